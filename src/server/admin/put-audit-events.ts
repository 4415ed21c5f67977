/**
 * POST /admin/audit-events: puts events into an organization's audit trail that the service cannot cause itself.
 * Invariant: all of a body or none of it; what is wrong with an event is told with its place, as a seed is told it.
 */
import { givenEvent, type GivenEvent, putEvent, UnknownActorError } from '../audit-trails/given-events.ts';
import type { Database } from '../data-file/database.ts';
import type { BodyObject } from '../json-api/body.ts';
import { invalid, notFound } from '../json-api/errors.ts';
import { listOf, object, text } from '../seed/seed-reader.ts';
import type { MovableClock } from './movable-clock.ts';

interface Trails {
  readonly database: Database;
  readonly clock: MovableClock;
}

const shape = object({ organization: text, events: listOf(givenEvent) }, ['organization', 'events']);

/** @throws ApiError 404 for an organization that is not there, 422 with every problem of the events */
export function putAuditEvents(
  { database, clock }: Trails,
  { body }: { readonly body: BodyObject },
): { status: 201; document: { ids: string[] } } {
  const problems: string[] = [];
  shape(body, '', problems);
  if (problems.length > 0) throw refused(problems);
  const { organization, events } = body as unknown as { organization: string; events: GivenEvent[] };
  const known = database.get<{ id: string }>('SELECT id FROM organizations WHERE name = :name', {
    name: organization,
  });
  if (known === undefined) throw notFound('Organization');
  try {
    const put = () => events.map((event) => putEvent(database, known.id, event, clock.now()));
    return { status: 201, document: { ids: database.transaction(put) } };
  } catch (error) {
    if (error instanceof UnknownActorError) throw refused([error.message]);
    throw error;
  }
}

function refused(problems: readonly string[]) {
  return invalid(
    problems.map((problem) => ({
      detail: problem.replace(/^the seed /, 'the body '),
      pointer: pathOf(problem).replaceAll(/[.[\]]+/g, '/'),
    })),
  );
}

/** Problems begin with the place that they are about, unless that is the whole body. */
function pathOf(problem: string): string {
  const [path] = /^(?:organization|events)[^ ]*/.exec(problem) ?? [];
  return path === undefined ? '' : `/${path.replace(/\]$/, '')}`;
}
