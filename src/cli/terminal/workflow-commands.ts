/**
 * Under GitHub Actions a line of output can be a command: when it begins with `::`, after any white space, and in an older form
 * wherever it has `##[`. What is printed may come from a live name or a service, so that it gets an escape there. In JSON, which has these
 * characters in texts only, the escape means the same character.
 */

interface Writing {
  write(text: string): void;
}

/** Both forms, up to the character that completes them. The runner trims all white space of Unicode. */
const command = /^\s*::|##\[/gm;

export function isUnderActions(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

/** The output with the escapes. A text may continue a line that an earlier one began. */
export function withoutCommands<O extends Writing>(output: O): O {
  let open = '';
  return {
    ...output,
    write: (text) => {
      const whole = open + text;
      output.write(escaped(whole, open.length).slice(open.length));
      // Of a long line only the end and whether it has begun matter.
      const line = whole.slice(lastLineEnd(whole) + 1);
      if (line.trim() === '') open = '';
      else open = line.length <= 100 ? line : `x${line.slice(-3)}`;
    },
  };
}

function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
}

/** Escapes the last character of each command that is completed after `from`: what stands before was written already. */
function escaped(text: string, from: number): string {
  return text.replace(command, (found, offset: number) => {
    const end = offset + found.length;
    if (end <= from) return found;
    return `${found.slice(0, -1)}${found.endsWith('[') ? '\\u005b' : '\\u003a'}`;
  });
}
