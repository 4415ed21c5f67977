/**
 * What starts runs: paths in one of two lists, or an expression for tags, which excludes file triggers. The service derives
 * undeclared ones of these fields from the declared ones; this file does the same, and reports live values that contradict
 * the manifest.
 */
import { formatAddress } from '../../../model/resource/address.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, sameJson } from '../../../model/json/json.ts';
import { quoted } from '../../../model/quoted.ts';
import { triggerLists } from '../attributes.ts';
import type { PreparedWorkspace, WorkspaceFields, WorkspaceComparison } from '../workspace-types.ts';

interface PreparedTriggers {
  readonly desired: PreparedWorkspace;
  readonly notes: readonly string[];
  readonly problems: readonly Diagnostic[];
}

const fileTriggers = 'fileTriggersEnabled';

export function prepareTriggers(context: WorkspaceComparison): PreparedTriggers {
  const cleared = clearedTriggers(context);
  const own = besideRegex(context);
  return { ...own, desired: { ...cleared.desired, ...own.desired }, notes: cleared.notes };
}

function besideRegex(context: WorkspaceComparison): Pick<PreparedTriggers, 'desired' | 'problems'> {
  const { desired, live, record } = context;
  if (!hasTagsRegex(context)) return { desired: {}, problems: [] };
  if (desired[fileTriggers] !== undefined)
    return { desired: {}, problems: desired[fileTriggers] === true ? [contradiction(context)] : [] };
  // With an expression, the default of file triggers is false. Setting an expression turns them off.
  const dropped = record?.fields[fileTriggers] !== undefined;
  const turnedOff = setTrigger(context) === 'tagsRegex' && live?.spec[fileTriggers] === true;
  return { desired: dropped || turnedOff ? { [fileTriggers]: false } : {}, problems: [] };
}

const triggers = [...triggerLists, 'tagsRegex'] as const;
type TriggerField = (typeof triggers)[number];

/** Setting one of the three makes the service clear the others, which the plan shows as a change (rule 13). */
function clearedTriggers(context: WorkspaceComparison): Pick<PreparedTriggers, 'desired' | 'notes'> {
  const named = setTrigger(context);
  if (named === undefined) return { desired: {}, notes: [] };
  const cleared = triggers.filter((name) => name !== named && isLeftToService(context, name));
  const lists = cleared.filter((name) => name !== 'tagsRegex').map((name) => [name, null] as const);
  const { vcsRepo } = context.desired;
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

/** Whether a trigger is live and not managed; one that was managed and is no longer declared is reset anyway. */
function isLeftToService({ desired, live, record }: WorkspaceComparison, name: TriggerField): boolean {
  const { vcsRepo } = desired;
  const repositoryGoes = vcsRepo === null || (vcsRepo === undefined && record?.fields.vcsRepo !== undefined);
  return (
    isFilled(triggerOf(live?.spec, name)) &&
    triggerOf(desired, name) === undefined &&
    triggerOf(record?.fields, name) === undefined &&
    !(name === 'tagsRegex' && repositoryGoes)
  );
}

/**
 * The trigger that this change sets, if any; `check` refuses two. The plan decides: one of its calls may have set it already when the
 * workspace is read again for another one.
 */
function setTrigger({ desired, live, planned = live }: Sides): TriggerField | undefined {
  if (planned === undefined) return undefined;
  return triggers.find((name) => {
    const value = triggerOf(desired, name);
    return isFilled(value) && !sameJson(value, triggerOf(planned.spec, name));
  });
}

function triggerOf(spec: WorkspaceFields | undefined, name: TriggerField): Json | undefined {
  return name === 'tagsRegex' ? memberOf(spec?.vcsRepo, name) : spec?.[name];
}

function pathOf(name: TriggerField | undefined): string {
  return name === 'tagsRegex' ? 'vcsRepo.tagsRegex' : String(name);
}

/** Whether an expression is set after the change. Setting a list of paths removes it. */
function hasTagsRegex({ desired, live, record }: WorkspaceComparison): boolean {
  if ([desired.triggerPrefixes, desired.triggerPatterns].some(isFilled)) return false;
  const { vcsRepo } = desired;
  const recorded = record?.fields.vcsRepo;
  if (vcsRepo === null || (vcsRepo === undefined && recorded !== undefined)) return false;
  const own = memberOf(vcsRepo, 'tagsRegex');
  if (own !== undefined) return isFilled(own);
  return memberOf(recorded, 'tagsRegex') === undefined && isFilled(memberOf(live?.spec.vcsRepo, 'tagsRegex'));
}

type Sides = Pick<WorkspaceComparison, 'desired'> & {
  readonly live?: WorkspaceComparison['live'] | undefined;
  readonly planned?: WorkspaceComparison['live'] | undefined;
  readonly record?: WorkspaceComparison['record'] | undefined;
};

/** Whether a list of paths is filled after the change. */
export function hasListsAfter(context: Sides): boolean {
  const { desired, live, record } = context;
  const named = setTrigger(context);
  return triggerLists.some((name) => {
    if (desired[name] !== undefined) return isFilled(desired[name]);
    const isReset = record?.fields[name] !== undefined;
    return !isReset && isFilled(live?.spec[name]) && (named === undefined || named === name);
  });
}

export function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

function contradiction({ address, place }: WorkspaceComparison): Diagnostic {
  return {
    code: 'regex-with-file-triggers',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(formatAddress(address))} shall have file triggers, and its repository has an expression for tags that the manifest does not mention`,
    ...(place === undefined ? {} : { place }),
    fix: 'declare "vcsRepo.tagsRegex: null", or "fileTriggersEnabled: false"',
  };
}
