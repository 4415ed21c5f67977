/** The fleet file of a running worker. It is read again and again; while it is not valid, its last valid version stays in use. */
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { messageOf } from '../../model/error-message.ts';
import { counted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type Fleet, readFleet } from './fleet-file.ts';

export interface KeptFleet {
  /** of the last valid version */
  readonly fleet: Fleet;
  /** of the first read */
  readonly warnings: readonly Diagnostic[];
  /** why the newest version is not used; undefined when it is */
  readonly problem: string | undefined;
  /** Reads the file again. */
  refresh(): Promise<void>;
}

/** @throws CommandStop when the file is not valid now */
export async function openFleetFile(file: string): Promise<KeptFleet> {
  const first = await readFleet(file);
  if (first.fleet === undefined) throw CommandStop.ofProblems(first.diagnostics);
  let [fleet, problem]: [Fleet, string | undefined] = [first.fleet, undefined];
  return {
    get fleet() {
      return fleet;
    },
    get problem() {
      return problem;
    },
    warnings: first.diagnostics,
    refresh: async () => {
      const newest = await readFleet(file).catch((error: unknown) => ({
        // A bug of trueup must not end a worker.
        diagnostics: [
          { code: 'fleet-file', severity: 'error', class: 'invalid', message: messageOf(error) } as const,
        ],
        fleet: undefined,
      }));
      if (newest.fleet !== undefined) fleet = newest.fleet;
      problem = hasErrors(newest.diagnostics) ? describe(newest.diagnostics) : undefined;
    },
  };
}

function describe(diagnostics: readonly Diagnostic[]): string {
  const [first, ...more] = diagnostics.filter(({ severity }) => severity === 'error');
  const line = first?.place === undefined ? '' : `line ${first.place.line}: `;
  const others = more.length === 0 ? '' : ` (and ${counted(more.length, 'more problem')})`;
  return `the new version of the fleet file is not valid, so the last valid one stays in use: ${line}${first?.message ?? ''}${others}`;
}
