# Bash completion of spate: commands, options, shipped scenes, files.
_spate() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    local commands="run check info list render mesh view bench docs help"
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi

    case $previous in
    -o | --output)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return ;;
    --colour | --color)
        mapfile -t COMPREPLY < <(compgen -W "material speed J density pressure id" -- "$word")
        return ;;
    --variant)
        mapfile -t COMPREPLY < <(compgen -W "liquid elastic sand clay" -- "$word")
        return ;;
    --integrator)
        mapfile -t COMPREPLY < <(compgen -W "pic flip nflip sflip apic aflip aspic asflip polypic" -- "$word")
        return ;;
    --dimension)
        mapfile -t COMPREPLY < <(compgen -W "2 3" -- "$word")
        return ;;
    --compare)
        mapfile -t COMPREPLY < <(compgen -S = -W "integrator alpha dt cfl" -- "$word")
        return ;;
    --method)
        mapfile -t COMPREPLY < <(compgen -W "anisotropic isotropic sheets" -- "$word")
        return ;;
    --formats)
        mapfile -t COMPREPLY < <(compgen -W "ply obj vtp" -- "$word")
        return ;;
    --loop)
        mapfile -t COMPREPLY < <(compgen -W "2 pingpong" -- "$word")
        return ;;
    --frames | --until | --threads | --set | --camera | --fov | --orbit | --fps | --speed | --size | --range | --samples | --plot | --particles | \
        --rounds | --domain-scale | --resolution | --smoothing | --port | --listen)
        return ;;
    esac

    local options=
    case $command in
    run) options="--output --frames --until --threads --set --compare --resume --force --quiet --json --steps-log --steps-full" ;;
    check) options="--set --threads --json" ;;
    info | list) options="--json" ;;
    render) options="--output --size --colour --color --range --frames --camera --fov --orbit --set --samples --points --no-film
        --fps --speed --loop --plot --threads --quiet" ;;
    mesh) options="--output --method --formats --resolution --smoothing --frames --force --threads --quiet" ;;
    view) options="--port --listen --no-open --set --speed --paused --record --threads --quiet" ;;
    bench) options="--threads --particles --rounds --variant --integrator --dimension --domain-scale --json" ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$word")
        return
    fi

    case $command in
    run | check | info | view)
        local scenes
        scenes=$("${COMP_WORDS[0]}" list 2>/dev/null | cut -d' ' -f1)
        mapfile -t COMPREPLY < <(compgen -W "$scenes" -- "$word"; compgen -f -- "$word") ;;
    render | mesh) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    bench) mapfile -t COMPREPLY < <(compgen -W "mpm" -- "$word") ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word") ;;
    esac
}
complete -o filenames -F _spate spate
