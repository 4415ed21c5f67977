/**
 * File triggers beside an expression for tags: the service has one or the other, so what the manifest leaves out of the
 * two follows from what it says, and what is live and contradicts it is told before anything is sent.
 */
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { Meeting } from '../../model/kind.ts';
import type { Spec } from '../../model/resource.ts';

export interface PreparedTriggers {
  readonly desired: Spec;
  readonly problems: readonly Diagnostic[];
}

const fileTriggers = 'fileTriggersEnabled';

export function prepareTriggers(meeting: Meeting): PreparedTriggers {
  const { desired, record } = meeting;
  if (!hasTagsRegex(meeting)) return { desired: {}, problems: [] };
  if (desired[fileTriggers] !== undefined)
    return { desired: {}, problems: desired[fileTriggers] === true ? [contradiction(meeting)] : [] };
  // Beside an expression the default is another one: no longer declared, the field goes back to that.
  const dropped = record?.fields[fileTriggers] !== undefined;
  return { desired: dropped ? { [fileTriggers]: false } : {}, problems: [] };
}

/** Whether an expression is set once the change is carried out. To set one of the lists of paths removes it. */
function hasTagsRegex({ desired, live, record }: Meeting): boolean {
  if ([desired['triggerPrefixes'], desired['triggerPatterns']].some(isFilled)) return false;
  const { vcsRepo } = desired;
  const recorded = record?.fields['vcsRepo'];
  if (vcsRepo === null || (vcsRepo === undefined && recorded !== undefined)) return false;
  const own = memberOf(vcsRepo, 'tagsRegex');
  if (own !== undefined) return isFilled(own);
  return (
    memberOf(recorded, 'tagsRegex') === undefined && isFilled(memberOf(live?.spec['vcsRepo'], 'tagsRegex'))
  );
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

function contradiction({ address, place }: Meeting): Diagnostic {
  return {
    code: 'regex-with-file-triggers',
    severity: 'error',
    class: 'invalid',
    message: `"${formatAddress(address)}" shall have file triggers, and its repository has an expression for tags that the manifest does not mention`,
    ...(place === undefined ? {} : { place }),
    fix: 'declare "vcsRepo.tagsRegex: null", or "fileTriggersEnabled: false"',
  };
}
