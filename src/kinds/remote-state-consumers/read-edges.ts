/** The consumers of one workspace as edges, name to id. A workspace that shares more widely has none to read (rule 10). */
import { type Pages, readPages } from '../../http/read-pages.ts';
import { counted } from '../../model/counted.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { describeAnswer } from '../../model/wire.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';

/** `global` and `project`: with whom it is shared whatever the list says; `edges` is there where it is shared with neither. */
type ConsumerFacts = { readonly global?: boolean; readonly project?: boolean; readonly edges?: Edges };

/** The consumers of a state by name, none where it is shared more widely. */
export type LiveConsumers = LiveResource<{ readonly consumers?: readonly string[] }, ConsumerFacts>;

/** Consumers by name, each with its id. */
export type Edges = Readonly<Record<string, string>>;

export type EdgesAnswer =
  | { readonly edges: Edges; readonly note?: string }
  | { readonly edges?: never; readonly problem: string };

/**
 * With whom a state is shared whatever the list says: the service then lists those, and none of them is an edge.
 * Sharing with the project is not in the specification; real services have it (wire/workspaces 1.5.3).
 */
export function sharedWith({ attributes }: WorkspaceItem): 'organization' | 'project' | undefined {
  if (attributes['global-remote-state'] === true) return 'organization';
  return attributes['project-remote-state'] === true ? 'project' : undefined;
}

/** @throws WireError when the service cannot be reached */
export async function readEdges(session: Session, item: WorkspaceItem): Promise<EdgesAnswer> {
  const pages = await readPages(
    session.reader,
    `/workspaces/${encodeURIComponent(item.id)}/relationships/remote-state-consumers`,
  );
  const { missing = 0 } = pages;
  if (!pages.complete && missing === 0) return { problem: whyUnread(item, pages) };
  const consumers = pages.items.flatMap((document) => asWorkspaceItem(document) ?? []);
  const given = pages.items.length;
  const nameless = given - consumers.length;
  if (nameless > 0) {
    const have = nameless === 1 ? 'has' : 'have';
    return { problem: `${notAllRead(item)}: ${nameless} of ${given} in the list ${have} no name` };
  }
  const edges = Object.fromEntries(consumers.map(({ name, id }) => [name, id] as const));
  return { edges, ...(missing > 0 ? { note: leftAlone(item, missing) } : {}) };
}

/** The service counts them and does not show them; an edge that is not seen is never removed. */
function leftAlone({ name }: WorkspaceItem, count: number): string {
  const they = count === 1 ? 'it is' : 'they are';
  return `${counted(count, 'consumer')} of workspace "${name}" cannot be read with this token: ${they} left alone`;
}

function whyUnread(item: WorkspaceItem, { problem }: Pages): string {
  return `${notAllRead(item)}: ${typeof problem === 'object' ? describeAnswer(problem) : problem}`;
}

function notAllRead({ name }: WorkspaceItem): string {
  return `the remote state consumers of workspace "${name}" were not all read`;
}
