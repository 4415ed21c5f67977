/**
 * What the answer to a write tells of a workspace: the document as it is after the write. Each call is asked about the
 * fields that it may have written and no others, for an earlier answer knows nothing of what a later call does. A lock and
 * a retention policy are compared in ways of their own (rules 12, 18, 40).
 */
import { type Call, isCallObject } from '../../model/plan/call.ts';
import { kebabCase } from '../../model/kind/field-names.ts';
import { memberOf } from '../../model/json/json.ts';
import type { Answered } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';
import { fields } from './fields.ts';
import { liveSpec } from './live-workspace.ts';
import type { LiveSpec } from './workspace-types.ts';

export function answered(call: Call, { body }: Answer): Answered | undefined {
  const item = asWorkspaceItem(memberOf(body, 'data'));
  if (item === undefined) return undefined;
  const spec = liveSpec(item);
  const about = writtenBy(call).filter((name) => isOwn(name, spec, item));
  return about.length === 0 ? undefined : { about, spec };
}

/** What has endpoints of its own, or is no attribute at all. */
const apart = new Set(['sshKeyId', 'tagNames', 'lock', 'dataRetentionPolicy', 'operations']);
const ofDocument = Object.keys(fields).filter((name) => !apart.has(name));

function writtenBy({ id, body, writes = [] }: Call): readonly string[] {
  switch (id.slice(id.lastIndexOf('#') + 1)) {
    case 'create':
      return createdWith(body);
    case 'update':
      return ofDocument;
    case 'vcs-repo':
    case 'ssh-key':
      return writes;
    default:
      return [];
  }
}

/** A create holds what is not to be the service's own default, and nothing else was sent that could be verified. */
function createdWith(body: Call['body']): readonly string[] {
  const { data } = body ?? {};
  const { attributes, relationships } = isCallObject(data) ? data : {};
  const sent = isCallObject(attributes) ? attributes : {};
  const written = ofDocument.filter(
    (name) => fields[name]?.default === undefined || sent[kebabCase(name)] !== undefined,
  );
  const { tags } = isCallObject(relationships) ? relationships : {};
  return tags !== undefined ? [...written, 'tagNames'] : written;
}

/** A time may follow from a duration, and a duration from the project: neither tells what was sent. */
function isOwn(name: string, spec: LiveSpec, { attributes }: WorkspaceItem): boolean {
  const hasDuration = (spec.autoDestroyActivityDuration ?? null) !== null;
  if (name === 'autoDestroyAt') return !hasDuration;
  if (name !== 'autoDestroyActivityDuration') return true;
  return !(hasDuration && attributes['inherits-project-auto-destroy'] === true);
}
