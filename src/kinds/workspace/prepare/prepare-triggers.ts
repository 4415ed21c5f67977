/**
 * What starts runs: paths in one of two lists, or an expression for tags, and beside an expression no file triggers. What
 * the manifest leaves out of these follows from what it says, as the service will have it; what is live and contradicts it
 * is told before anything is sent.
 */
import { formatAddress } from '../../../model/resource/address.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, sameJson } from '../../../model/json/json.ts';
import { triggerLists } from '../attributes.ts';
import type { PreparedWorkspace, WorkspaceFields, WorkspaceMeeting } from '../workspace-types.ts';

export interface PreparedTriggers {
  readonly desired: PreparedWorkspace;
  readonly notes: readonly string[];
  readonly problems: readonly Diagnostic[];
}

const fileTriggers = 'fileTriggersEnabled';

export function prepareTriggers(meeting: WorkspaceMeeting): PreparedTriggers {
  const cleared = clearedTriggers(meeting);
  const own = besideRegex(meeting);
  return { ...own, desired: { ...cleared.desired, ...own.desired }, notes: cleared.notes };
}

function besideRegex(meeting: WorkspaceMeeting): Pick<PreparedTriggers, 'desired' | 'problems'> {
  const { desired, live, record } = meeting;
  if (!hasTagsRegex(meeting)) return { desired: {}, problems: [] };
  if (desired[fileTriggers] !== undefined)
    return { desired: {}, problems: desired[fileTriggers] === true ? [contradiction(meeting)] : [] };
  // Beside an expression the default is another one: no longer declared, the field goes back to that. To set one turns them off.
  const dropped = record?.fields[fileTriggers] !== undefined;
  const turnedOff = setTrigger(meeting) === 'tagsRegex' && live?.spec[fileTriggers] === true;
  return { desired: dropped || turnedOff ? { [fileTriggers]: false } : {}, problems: [] };
}

const triggers = [...triggerLists, 'tagsRegex'] as const;
type TriggerField = (typeof triggers)[number];

/** Setting one of the three makes the service clear the others: a change like any other, which is shown (rule 13). */
function clearedTriggers(meeting: WorkspaceMeeting): Pick<PreparedTriggers, 'desired' | 'notes'> {
  const named = setTrigger(meeting);
  if (named === undefined) return { desired: {}, notes: [] };
  const cleared = triggers.filter((name) => name !== named && isLeftToService(meeting, name));
  const lists = cleared.filter((name) => name !== 'tagsRegex').map((name) => [name, null] as const);
  const { vcsRepo } = meeting.desired;
  const repository = { ...(isJsonObject(vcsRepo) ? vcsRepo : {}), tagsRegex: null };
  return {
    desired: {
      ...Object.fromEntries(lists),
      ...(cleared.includes('tagsRegex') ? { vcsRepo: repository } : {}),
    },
    notes: cleared.map(
      (name) => `setting ${pathOf(named)} clears ${pathOf(name)}: only one of them starts runs`,
    ),
  };
}

/** Live, and by no word of the manifest: what was managed and is no longer declared is reset without this. */
function isLeftToService({ desired, live, record }: WorkspaceMeeting, name: TriggerField): boolean {
  const { vcsRepo } = desired;
  const repositoryGoes = vcsRepo === null || (vcsRepo === undefined && record?.fields.vcsRepo !== undefined);
  return (
    isFilled(triggerOf(live?.spec, name)) &&
    triggerOf(desired, name) === undefined &&
    triggerOf(record?.fields, name) === undefined &&
    !(name === 'tagsRegex' && repositoryGoes)
  );
}

/** The one that this change sets, if it sets any: `check` has refused two. */
function setTrigger({ desired, live }: WorkspaceMeeting): TriggerField | undefined {
  if (live === undefined) return undefined;
  return triggers.find((name) => {
    const value = triggerOf(desired, name);
    return isFilled(value) && !sameJson(value, triggerOf(live.spec, name));
  });
}

function triggerOf(spec: WorkspaceFields | undefined, name: TriggerField): Json | undefined {
  return name === 'tagsRegex' ? memberOf(spec?.vcsRepo, name) : spec?.[name];
}

function pathOf(name: TriggerField | undefined): string {
  return name === 'tagsRegex' ? 'vcsRepo.tagsRegex' : String(name);
}

/** Whether an expression is set once the change is carried out. To set one of the lists of paths removes it. */
function hasTagsRegex({ desired, live, record }: WorkspaceMeeting): boolean {
  if ([desired.triggerPrefixes, desired.triggerPatterns].some(isFilled)) return false;
  const { vcsRepo } = desired;
  const recorded = record?.fields.vcsRepo;
  if (vcsRepo === null || (vcsRepo === undefined && recorded !== undefined)) return false;
  const own = memberOf(vcsRepo, 'tagsRegex');
  if (own !== undefined) return isFilled(own);
  return memberOf(recorded, 'tagsRegex') === undefined && isFilled(memberOf(live?.spec.vcsRepo, 'tagsRegex'));
}

function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

function contradiction({ address, place }: WorkspaceMeeting): Diagnostic {
  return {
    code: 'regex-with-file-triggers',
    severity: 'error',
    class: 'invalid',
    message: `"${formatAddress(address)}" shall have file triggers, and its repository has an expression for tags that the manifest does not mention`,
    ...(place === undefined ? {} : { place }),
    fix: 'declare "vcsRepo.tagsRegex: null", or "fileTriggersEnabled: false"',
  };
}
