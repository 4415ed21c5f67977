/**
 * `trueup completion <shell>`: prints a script that makes a shell complete commands, flags and the names of a stack. Each script only
 * passes the words of the command line to `trueup __complete`, which prints one value per line, followed by a tab and a description.
 * The last line says whether the shell completes files.
 */
import { Argument, type Command } from 'commander';
import { addExamples, type CommandEnd, type CommonOptions } from '../run/command-options.ts';
import { exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .action((shell: keyof typeof scripts, options: CommonOptions) => {
      terminalOf(options);
      host.stdout.write(scripts[shell]);
      end(exitCodes.done);
    });
  addExamples(
    command,
    ['source <(trueup completion bash)', 'for bash; put the line into ~/.bashrc'],
    ['source <(trueup completion zsh)', 'for zsh; put the line into ~/.zshrc'],
    ['trueup completion fish | source', 'for fish; put the line into ~/.config/fish/config.fish'],
  );
}

/** A script, in which `@{` means `${` of the shell. */
const script = (text: TemplateStringsArray) => String.raw(text).replaceAll('@{', '${');

/** Works without the package bash-completion, and in bash 3.2, which macOS has. */
const bash = script`# bash completion for trueup: source <(trueup completion bash)
_trueup() {
  # Bash divides words at ":" and "=". Parts without a space between them are one word.
  local rest=@{COMP_LINE:0:COMP_POINT} words=() last='' part space count=0 i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    space=@{rest%%[![:space:]]*}
    rest=@{rest#"$space"}
    part=@{COMP_WORDS[i]}
    ((i == COMP_CWORD)) && part=$rest
    rest=@{rest#"$part"}
    if [[ -z $space && $count -gt 0 ]]; then
      words[count-1]+=$part
    else
      words[count]=$part
      ((count += 1))
    fi
    last=$part
  done
  COMPREPLY=()
  ((count > 1)) || return 0
  local current=@{words[count-1]#[\"\']} program=@{words[0]/#\~\//$HOME/} line value files=none
  words[count-1]=$current
  # The part of the current word that bash keeps.
  last=@{last#[\"\']}
  [[ $last == [:=] ]] && last=''
  local kept=@{current%"$last"}
  while IFS= read -r line; do
    case $line in
      :*) files=@{line#:} ;;
      *)
        value=@{line%%$'\t'*}
        COMPREPLY+=("@{value#"$kept"}")
        ;;
    esac
  done < <("$program" __complete "@{words[@]:1}" 2>/dev/null </dev/null)
  if ((@{#COMPREPLY[@]} == 0)) && [[ $files != none ]]; then
    compopt -o filenames 2>/dev/null
    local kind=-f
    [[ $files == directories ]] && kind=-d
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen "$kind" -- "$last")
  fi
}
complete -F _trueup trueup
`;

const zsh = script`#compdef trueup
# zsh completion for trueup: source <(trueup completion zsh)
_trueup() {
  local -a given described
  local line files=none tab=$'\t'
  given=("@{(@Q)words[1,CURRENT]}")
  given[-1]=@{(Q)PREFIX}
  while IFS= read -r line; do
    case $line in
      :*) files=@{line#:} ;;
      *$tab*) described+=("@{@{line%%$tab*}//:/\\:}:@{line#*$tab}") ;;
      *) described+=("@{line//:/\\:}") ;;
    esac
  done < <("@{given[1]}" __complete "@{(@)given[2,-1]}" 2>/dev/null </dev/null)
  if (( $#described )); then
    _describe -t trueup trueup described
  elif [[ $files == directories ]]; then
    _files -/
  elif [[ $files != none ]]; then
    _files
  fi
}
if [[ $funcstack[1] == _trueup ]]; then
  _trueup "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _trueup trueup
fi
`;

const fish = script`# fish completion for trueup: trueup completion fish | source
function __trueup_complete
    set -l given (commandline -opc)
    set -l current (commandline -ct | string trim --left --chars '"\'')
    set -l lines ($given[1] __complete $given[2..-1] "$current" 2>/dev/null </dev/null)
    set -l values (string match --invert --regex '^:' -- $lines)
    if test (count $values) -gt 0
        printf '%s\n' $values
    else if contains -- :directories $lines
        __fish_complete_directories "$current" ''
    else if contains -- :files $lines
        __fish_complete_path "$current"
    end
end
complete -c trueup -f -a '(__trueup_complete)'
`;

export const scripts = { bash, zsh, fish } as const;
const shells = Object.keys(scripts);
