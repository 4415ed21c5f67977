/**
 * The logs of plans and applies, behind signed links, as the service's command line follows them (wire/workspaces 6.5).
 * Invariant: no engine runs here, and the log of each plan and apply says so and what to do, so no reader takes the run for a
 * real one.
 */
import { notFound } from '../kernel/documents.ts';
import { queryText } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { type ServedFile, signedLink } from '../kernel/signed-links.ts';
import { type RunRow, runById } from './run-record.ts';

type Part = 'plan' | 'apply';

/** The bytes that begin and end a log. */
const [BEGIN, END] = ['\u0002', '\u0003'];

function logOf(part: Part): string {
  return `${BEGIN}The ${part} did not run: this service stores workspaces and states, but has no engine for runs.
Set "execution-mode" to "local" in the workspace, or as the default of its organization, to run on your own machine.
${END}`;
}

export const STORED_LOGS: readonly ServedFile[] = (['plan', 'apply'] as const).map((part) => ({
  method: 'GET',
  path: `/runs/:id/logs/${part}`,
  read: ({ database }, id, query) => {
    if (runById(database, id) === undefined) throw notFound('File');
    const number = (name: string): number | undefined => {
      const text = queryText(query, name);
      return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
    };
    const from = number('offset') ?? 0;
    const log = logOf(part).slice(from, from + (number('limit') ?? Number.MAX_SAFE_INTEGER));
    return { size: Buffer.byteLength(log), parts: [Buffer.from(log)] };
  },
}));

/** The attribute that leads to the log of a run's plan or apply, where the dialect has one. */
export function logLink(
  services: Services,
  origin: string,
  { id }: Pick<RunRow, 'id'>,
  part: Part,
): { readonly 'log-read-url'?: string } {
  if (!services.dialects.workspaces.hasLogs) return {};
  const link = signedLink(services, origin, { method: 'GET', path: `/runs/${id}/logs/${part}` });
  return { 'log-read-url': link };
}
