/**
 * Finds out what a plain delete of a workspace would lose. A service without a safe delete may also not count resources, and its
 * count is of the current state alone: so the states themselves are asked for (rule 48, wire/workspaces 4).
 */
import { encodeBrackets } from '../../../http/read-pages.ts';
import { isJsonObject, type Json } from '../../../model/json/json.ts';
import type { Session } from '../../../model/kind/kind.ts';
import { type Answer, describeAnswer, WireError } from '../../../model/wire.ts';
import { rightsOf } from '../../../services/workspaces/rights.ts';
import type { WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';

/** A clause about the workspace; null when it has no state, or only ones that are said to hold nothing. */
export async function stateAtRisk(session: Session, item: WorkspaceItem): Promise<string | null> {
  if (rightsOf(item).rights?.['can-read-state-versions'] === false)
    return 'this token may not see whether it has a state';
  const workspace = `filter[workspace][name]=${encodeURIComponent(item.name)}`;
  const organization = `filter[organization][name]=${encodeURIComponent(session.target.organization ?? '')}`;
  const paths = [
    `/workspaces/${encodeURIComponent(item.id)}/current-state-version`,
    encodeBrackets(`/state-versions?${organization}&${workspace}&page[size]=1`),
  ];
  try {
    const [current, newest] = await Promise.all(paths.map((path) => session.reader.get(path)));
    return whyKept('current', current) ?? whyKept('newest', newest);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return `its states could not be looked at (${error.message})`;
  }
}

/** 404 and an empty list: there is no state. */
function whyKept(which: 'current' | 'newest', answer: Answer | undefined): string | null {
  if (answer?.status === 404) return null;
  const data = isJsonObject(answer?.body) ? answer.body['data'] : undefined;
  if (answer?.status !== 200 || data === undefined)
    return `its ${which} state could not be looked at${answer === undefined ? '' : ` (${describeAnswer(answer)})`}`;
  const states = Array.isArray(data) ? (data as readonly Json[]) : data === null ? [] : [data];
  return states.every(isEmpty)
    ? null
    : `its ${which} state holds resources, or the service does not tell what it holds`;
}

/** A missing list of resources says nothing, and neither does one that is not made yet. */
function isEmpty(state: Json): boolean {
  const attributes = isJsonObject(state) ? state['attributes'] : undefined;
  if (!isJsonObject(attributes)) return false;
  const { resources, 'resources-processed': isProcessed } = attributes;
  return isProcessed === true && Array.isArray(resources) && resources.length === 0;
}
