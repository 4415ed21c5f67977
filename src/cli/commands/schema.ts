/** `trueup schema [kind]`: prints the JSON Schema of a kind, the stack, the plan, an event of an apply, the history, a login, or any manifest. */
import { nearestWord } from '../../manifest/explain/nearest-word.ts';
import { quoted } from '../../model/quoted.ts';
import { allSchemas } from '../all-schemas.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import type { CliHost } from '../cli-host.ts';

export function schema(name: string | undefined, host: CliHost, terminal: Terminal): ExitCode {
  const schemas = allSchemas(host.kinds);
  if (name === undefined) {
    host.stdout.write(`${[...schemas.keys()].join('\n')}\n`);
    return exitCodes.done;
  }
  const found = [...schemas].find(([known]) => known.toLowerCase() === name.toLowerCase());
  if (found === undefined) {
    const near = nearestWord(name, [...schemas.keys()]);
    const hint =
      near === undefined ? `one of ${[...schemas.keys()].join(', ')}` : `did you mean ${quoted(near)}?`;
    printError(terminal, 'unknown-schema', `there is no schema ${quoted(name)}: ${hint}`);
    return exitCodes.error;
  }
  host.stdout.write(`${JSON.stringify(found[1], null, 2)}\n`);
  return exitCodes.done;
}
