# Completion of mcpreel for bash. The function asks mcpreel itself.
_clap_complete_mcpreel() {
    local IFS=$'\013'
    local space=true
    if compopt +o nospace 2> /dev/null; then
        space=false
    fi
    # bash splits words at the characters of COMP_WORDBREAKS, such as "=", ":" and "@", and replaces only the last part,
    # $2. This joins the parts: `before` is the part of the current word that bash does not replace.
    local words=() index=0 is_quoted=true before="" rest="${COMP_LINE-}" previous="" word trimmed i
    local head="${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}}"
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word="${COMP_WORDS[i]}"
        trimmed="${rest#"${rest%%[![:space:]]*}"}"
        if ((i == 0)) || [[ "$trimmed" != "$rest" ]] || ! [[ "$word" =~ ^[=:@]+$ || "$previous" =~ ^[=:@]+$ ]]; then
            words+=("")
        fi
        local last=$((${#words[@]} - 1))
        rest="${trimmed#"$word"}"
        previous="$word"
        words[last]+="$word"
        if ((i == COMP_CWORD)); then
            index=$last
            if [[ "$word" == [\"\']* ]]; then
                words[last]="$2"
                continue
            fi
            # The part up to the cursor.
            while [[ -n "${words[last]}" && "${head%"${words[last]}"}" == "$head" ]]; do
                words[last]="${words[last]%?}"
            done
            before="${words[last]%"$2"}"
            is_quoted=false
        fi
    done
    # The words as mcpreel would get them: without quotes, and with the folder that "~" or a variable stands for.
    words=("${words[@]//[\\\"\']/}")
    local written="" meant=""
    if [[ $is_quoted == false && "${words[index]}" =~ ^(~|\$([A-Za-z_][A-Za-z_0-9]*))/ ]]; then
        written="${BASH_REMATCH[0]}"
        meant="$HOME/"
        if [[ -n "${BASH_REMATCH[2]}" ]]; then
            meant="${!BASH_REMATCH[2]}/"
        fi
        words[index]="$meant${words[index]#"$written"}"
    fi
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$index" \
        _CLAP_COMPLETE_COMP_TYPE="${COMP_TYPE}" \
        _CLAP_COMPLETE_SPACE="$space" \
        MCPREEL_COMPLETE="bash" \
        mcpreel -- "${words[@]}" \
    ) )
    if [[ $? != 0 ]]; then
        unset COMPREPLY
    elif [[ $space == false ]] && [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace
    fi
    if [[ -n "$before" && ${#COMPREPLY[@]} -gt 0 ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    local part
    for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do
        part="${COMPREPLY[i]#"$meant"}"
        if [[ $is_quoted == false && "$part" == *[[:space:]\\\'\"\`\$\&\;\|\<\>\(\)\*\?\[\!\#]* ]]; then
            printf -v part %q "$part"
        fi
        COMPREPLY[i]="$written$part"
    done
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _clap_complete_mcpreel mcpreel
else
    complete -o nospace -o bashdefault -F _clap_complete_mcpreel mcpreel
fi
