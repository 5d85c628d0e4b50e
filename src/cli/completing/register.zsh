#compdef mcpreel
# Completion of mcpreel for zsh. The function asks mcpreel itself.
function _clap_dynamic_completer_mcpreel() {
    # The words as mcpreel would get them: without quotes; the current one only up to the cursor, and with the folder that
    # "~" or a variable stands for.
    local -a asked=("${(@Q)words}")
    local current="${(Q)PREFIX-}" meant=""
    if [[ -z "${compstate[quote]-}" && "${PREFIX-}" =~ '^(~|\$([A-Za-z_][A-Za-z_0-9]*))/' ]]; then
        meant="$HOME/"
        [[ -n "${match[2]}" ]] && meant="${(P)match[2]}/"
        current="$meant${current#*/}"
        compset -P 1 '*/'
    fi
    asked[CURRENT]="$current"
    local -a completions=("${(@f)$( \
        _CLAP_IFS=$'\n' \
        _CLAP_COMPLETE_INDEX="$((CURRENT - 1))" \
        VARIABLE="zsh" \
        mcpreel -- "${asked[@]}" 2>/dev/null \
    )}")
    # A description follows a colon; those of values have a backslash before them. What can be continued gets no space.
    local completion value
    local -a folders=() starts=() others=()
    for completion in "${completions[@]}"; do
        completion="${completion#"$meant"}"
        value="${completion//\\:/=}"
        value="${value%%:*}"
        if [[ "$value" == */ ]]; then
            folders+=("${value%/}${completion#"$value"}")
        elif [[ "$value" == *= ]]; then
            starts+=("$completion")
        elif [[ -n "$value" ]]; then
            others+=("$completion")
        fi
    done
    [[ -n $folders ]] && _describe -V 'values' folders -S '/' -r '/'
    [[ -n $starts ]] && _describe -V 'values' starts -S ''
    [[ -n $others ]] && _describe -V 'values' others
}

compdef _clap_dynamic_completer_mcpreel mcpreel
