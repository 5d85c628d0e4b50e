complete --keep-order --exclusive --command mcpreel --arguments "(MCPREEL_COMPLETE=fish mcpreel -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
