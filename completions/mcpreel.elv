
set edit:completion:arg-completer[mcpreel] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) MCPREEL_COMPLETE="elvish" mcpreel -- $@words) | to-lines
}

