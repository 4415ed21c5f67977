/** The consumers of one workspace as edges, name to id. A workspace that shares more widely has none to read (RULES 10). */
import { type Pages, readPages } from '../../http/read-pages.ts';
import type { Session } from '../../model/kind.ts';
import { describeAnswer } from '../../model/wire.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../targets/workspaces/workspace-item.ts';

/** Consumers by name, each with its id. */
export type Edges = Readonly<Record<string, string>>;

export type EdgesAnswer =
  | { readonly edges: Edges; readonly note?: string }
  | { readonly edges?: never; readonly problem: string };

/**
 * With whom a state is shared whatever the list says: the service then lists those, and none of them is an edge.
 * Sharing with the project is not in the specification; real services have it (facts 1.5.3).
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
  const consumers = pages.items.flatMap((document) => asWorkspaceItem(document) ?? []);
  const edges = Object.fromEntries(consumers.map(({ name, id }) => [name, id] as const));
  const hidden = Math.max(pages.items.length, pages.total ?? 0) - consumers.length;
  const listed = pages.complete || (typeof pages.problem === 'string' && hidden > 0);
  if (!listed) return { problem: whyUnread(item, pages) };
  return { edges, ...(hidden > 0 ? { note: leftAlone(item, hidden) } : {}) };
}

/** The service counts them and does not show them; an edge that is not seen is never removed. */
function leftAlone({ name }: WorkspaceItem, count: number): string {
  return `${count} consumers of workspace "${name}" cannot be read with this token: they are left alone`;
}

function whyUnread({ name }: WorkspaceItem, { problem }: Pages): string {
  const why = typeof problem === 'object' ? describeAnswer(problem) : problem;
  return `the remote state consumers of workspace "${name}" were not all read: ${why}`;
}
