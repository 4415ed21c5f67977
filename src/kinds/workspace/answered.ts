/**
 * Reads the workspace from the answer to a write. For each call only the fields count that it may have written, because an
 * earlier answer does not show what a later call does. Locks and retention policies are verified elsewhere (rules 12, 18, 40).
 */
import { type Call, type CallValue, isCallObject } from '../../model/plan/call.ts';
import { kebabCase } from '../../model/kind/field-names.ts';
import { memberOf } from '../../model/json/json.ts';
import type { ReturnedFields } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';
import { spelledAs } from './attributes.ts';
import { fields } from './fields.ts';
import { liveSpec } from './read/live-workspace.ts';
import { showsDerived } from './prepare/derived-triggers.ts';
import { hidesOwnMode, keepsOldMode } from './prepare/own-mode.ts';
import type { LiveSpec } from './workspace-types.ts';

export function fieldsFromResponse(call: Call, { body }: Answer): ReturnedFields | undefined {
  const item = asWorkspaceItem(memberOf(body, 'data'));
  if (item === undefined) return undefined;
  const isOwnMode = hidesOwnMode(item, sentIn(call)) || keepsOldMode(item, call);
  const told = liveSpec(item, { tellsOwnMode: !isOwnMode });
  const { tagNames } = told;
  const spec = tagNames === undefined ? told : { ...told, tagNames: spelledAs(sentTags(call), tagNames) };
  const isDerived = showsDerived(item, call);
  const about = writtenBy(call).filter(
    (name) => isOwnValue(name, spec, item) && !(isDerived && name === 'fileTriggersEnabled'),
  );
  return about.length === 0 ? undefined : { about, spec };
}

/** The execution mode and the agent pool in the body of a call. */
function sentIn({ body }: Call): Parameters<typeof hidesOwnMode>[1] {
  const { data } = body ?? {};
  const { attributes } = isCallObject(data) ? data : {};
  if (!isCallObject(attributes)) return {};
  const text = (name: string) => (typeof attributes[name] === 'string' ? attributes[name] : undefined);
  return { mode: text('execution-mode'), pool: text('agent-pool-id') };
}

/** The flat tags in the body of a create. */
function sentTags({ body }: Call): string[] {
  const { data } = body ?? {};
  const { relationships } = isCallObject(data) ? data : {};
  const { tags } = isCallObject(relationships) ? relationships : {};
  const { data: list } = isCallObject(tags) ? tags : {};
  const names = Array.isArray(list) ? (list as readonly CallValue[]) : [];
  return names.flatMap((tag) => {
    const { attributes } = isCallObject(tag) ? tag : {};
    const { name } = isCallObject(attributes) ? attributes : {};
    return typeof name === 'string' ? name : [];
  });
}

/** Fields with endpoints of their own, or that are no attributes. */
const notVerifiable = new Set(['sshKeyId', 'tagNames', 'lock', 'dataRetentionPolicy', 'operations']);
const documentFields = Object.keys(fields).filter((name) => !notVerifiable.has(name));

function writtenBy({ id, body, writes = [] }: Call): readonly string[] {
  switch (id.slice(id.lastIndexOf('#') + 1)) {
    case 'create':
      return createdFields(body);
    case 'update':
      return documentFields;
    case 'vcs-repo':
    case 'ssh-key':
      return writes;
    case 'clear-patterns':
    case 'clear-triggers':
      return ['triggerPatterns', 'triggerPrefixes', 'vcsRepo', 'fileTriggersEnabled'];
    default:
      return [];
  }
}

/** Of a create, only fields that were sent, or that have no default, can be verified. */
function createdFields(body: Call['body']): readonly string[] {
  const { data } = body ?? {};
  const { attributes, relationships } = isCallObject(data) ? data : {};
  const sent = isCallObject(attributes) ? attributes : {};
  const written = documentFields.filter(
    (name) => fields[name]?.default === undefined || sent[kebabCase(name)] !== undefined,
  );
  const { tags } = isCallObject(relationships) ? relationships : {};
  return tags !== undefined ? [...written, 'tagNames'] : written;
}

/** Whether the answered value is the workspace's own: a time may be computed from a duration, a duration inherited from the project. */
function isOwnValue(name: string, spec: LiveSpec, { attributes }: WorkspaceItem): boolean {
  const hasDuration = (spec.autoDestroyActivityDuration ?? null) !== null;
  if (name === 'autoDestroyAt') return !hasDuration;
  if (name !== 'autoDestroyActivityDuration') return true;
  return !(hasDuration && attributes['inherits-project-auto-destroy'] === true);
}
