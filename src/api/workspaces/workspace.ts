/**
 * One workspace as the API returns it, reduced to the members that are used, the rights of the token on it, and the rule for
 * its name (wire/workspaces 5.4).
 */
import type { Address } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Answer } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { NameRule } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource, ReturnedResource } from '../../model/resource.ts';

export interface WorkspaceItem {
  readonly id: string;
  readonly name: string;
  readonly attributes: JsonObject;
  readonly relationships: JsonObject;
  /** its index in the list, if the list shows its tags as well */
  readonly listIndex?: number;
  /** the list lacks it, and it was found by its id */
  readonly unlisted?: true;
}

/** The workspace in a document; undefined for any other value. Source: wire/workspaces 5.3. */
export function asWorkspaceItem(document: Json | undefined): WorkspaceItem | undefined {
  if (!isJsonObject(document)) return undefined;
  const { id, attributes, relationships } = document;
  if (typeof id !== 'string' || !isJsonObject(attributes)) return undefined;
  const name = attributes['name'];
  if (typeof name !== 'string') return undefined;
  return { id, name, attributes, relationships: isJsonObject(relationships) ? relationships : {} };
}

/** The workspace or project in the response to its create. */
export function returnedResource({ body }: Answer): ReturnedResource | undefined {
  const item = asWorkspaceItem(memberOf(body, 'data'));
  return item && { name: item.name, organization: relatedId(item, 'organization') };
}

/**
 * Drops links, relationships to lists such as tag bindings, and empty relationships, which are most of the document. An empty one is
 * kept only for the current state: it shows that there is no state.
 */
export function reducedDocument({ id = null, attributes = null, relationships }: JsonObject): JsonObject {
  const known: Record<string, Json> = {};
  if (isJsonObject(relationships))
    for (const name in relationships) {
      const data = memberOf(relationships[name], 'data') ?? null;
      const isUsed = name === 'current-state-version' || (data !== null && !Array.isArray(data));
      if (isUsed) known[name] = { data };
    }
  return { id, attributes, relationships: known };
}

/** The id in a relationship; null when it is not set. Some services leave it out then. */
export function relatedId(item: WorkspaceItem, relationship: string): string | null {
  const link = item.relationships[relationship];
  const data = isJsonObject(link) ? link['data'] : undefined;
  const id = isJsonObject(data) ? data['id'] : undefined;
  return typeof id === 'string' ? id : null;
}

/** The agent pool: a relationship, or with some services an attribute (wire/workspaces 4). */
export function poolOf(item: WorkspaceItem): string | null {
  const { 'agent-pool-id': attribute } = item.attributes;
  return (
    relatedId(item, 'agent-pool') ?? (typeof attribute === 'string' && attribute !== '' ? attribute : null)
  );
}

// The permissions of the token on a workspace, from the `permissions` of its document.

/** The rights that our calls need. Source: wire/workspaces 5.3. */
export type Right =
  | 'can-update'
  | 'can-lock'
  | 'can-unlock'
  | 'can-manage-tags'
  | 'can-destroy'
  | 'can-force-delete';

const writing: readonly Right[] = ['can-update', 'can-lock', 'can-unlock', 'can-manage-tags', 'can-destroy'];

type Rights = Pick<LiveResource, 'rights' | 'mayWrite'>;

/** The rights of the token on a workspace; empty if the document has no permissions. */
export function rightsOf({ attributes }: WorkspaceItem): Rights {
  const permissions = attributes['permissions'];
  if (!isJsonObject(permissions)) return {};
  const text = JSON.stringify(permissions);
  const rights = rightsByText.get(text) ?? readRights(permissions);
  rightsByText.set(text, rights);
  return rights;
}

/** The rights seen so far: a token usually has the same on thousands of workspaces. */
const rightsByText = new Map<string, Rights>();

function readRights(permissions: JsonObject): Rights {
  const isBoolean = (entry: [string, Json]): entry is [string, boolean] => typeof entry[1] === 'boolean';
  const mayWrite = writing.some((right) => permissions[right] !== false);
  return {
    rights: Object.fromEntries(Object.entries(permissions).filter(isBoolean)),
    ...(mayWrite ? {} : { mayWrite }),
  };
}

/** The parent of a child resource (tag bindings, consumers): the workspace with the same target and name. */
export function workspaceOf({ target, name }: Address): Address {
  return { kind: 'Workspace', target, name };
}

/**
 * Message and fix for a part of a workspace that is read by way of the list: tag bindings, consumers.
 * @param what the part, as a subject
 */
export function unreadPart(what: string, { facts }: LiveResource): Pick<Diagnostic, 'message' | 'fix'> {
  return facts['unlisted'] === true
    ? {
        message: `the list of workspaces lacks some that exist, so ${what} could not be read`,
        fix: listFix,
      }
    : {
        message: `${what} could not be read`,
        fix: 'let the token read them; after a rename, put the same "renamedFrom" into this document as into the workspace\'s',
      };
}

/** What to do about a list that lacks workspaces. */
export const listFix =
  'plan again; if the list stays incomplete, check what answers between trueup and the service, such as a cache';

// The rule for names of workspaces (wire/workspaces 5.4), for all kinds whose documents name one.

const description = 'at most 90 letters, digits, "-" and "_"';

/** Current versions of the service accept up to 260 characters; all versions accept 90. */
export const workspaceNames: NameRule = { pattern: /^[A-Za-z0-9_-]{1,90}$/, description };

/** For kinds that are named after their workspace. */
export const namedAfterWorkspace: NameRule = {
  ...workspaceNames,
  description: `the name of a workspace: ${description}`,
};

/**
 * What a service lacks of the workspaces API: one sentence each, for the beginning of the report. Detected once, from answers that
 * are read anyway, or by one cheap read before the first write.
 */
export const limits = {
  includedTags:
    'the service does not include tag bindings in its list of workspaces: they were read one workspace at a time, only for declared workspaces and those with an ownership tag',
  tagFilter:
    'the service ignores the filter by tags: ownership tags are seen only on workspaces that a manifest or the ledger names',
  tagBindings: 'the service has no tag bindings, so neither tags nor ownership tags',
  consumers: 'the service has no remote state consumers, so access to states is not visible',
  safeDelete: 'the service has no safe delete',
  ownMode:
    'the service does not show whether a workspace inherits its execution mode: a mode that differs from the default of its project or organization, or that this stack set, counts as its own',
  fileTriggers:
    'the service derives "fileTriggersEnabled" from the lists of triggers: it is true if one of them has entries, and cannot be set',
} as const;

/** The limit about a declared field that no answer about a workspace, or about a project, has. */
export function lackingField(name: string, of: 'workspace' | 'project' = 'workspace'): string {
  return `the service does not have, or does not show, ${quoted(name)} of a ${of}`;
}

const maxNames = 5;

/** The limit about workspaces for which it is unknown whether they inherit their execution mode. */
export function unknownModes(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, maxNames).map(quoted);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `the service reports the execution mode of ${shown.join(', ')}${more} as inherited, but the defaults of its project or organization could not be read: whether it is inherited is unknown`;
}
