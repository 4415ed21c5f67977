/** What a plan is made of: one resource, what is to become of it, and the calls that do it. */
import type { Address } from '../resource/address.ts';
import type { Call, CallId } from './call.ts';
import type { Place } from '../diagnostic.ts';
import type { FieldChange } from '../kind/field.ts';
import type { Json } from '../json/json.ts';
import type { Risk } from './risk.ts';

export type Action = 'create' | 'update' | 'delete' | 'release' | 'adopt' | 'none';

export interface Change {
  readonly address: Address;
  readonly action: Action;
  /** one clause, for people: "declared, not live" */
  readonly reason: string;
  readonly fields: readonly FieldChange[];
  /** what the reader should know and no one needs to act on */
  readonly notes: readonly string[];
  /** what it opens or closes, and to whom; absent when nothing */
  readonly risks?: readonly Risk[];
  /** where the manifest declares it; absent for what is not declared any more */
  readonly place?: Place;
  /** the live resource's id, when it exists and has one */
  readonly id?: string;
  /** of the live content of what is taken away and has no id: another one under that name has another */
  readonly fingerprint?: string;
  readonly calls: readonly Call[];
  /** a call of another change that carries this one out too (rule 20) */
  readonly sharedCall?: CallId;
  /** facts of the live resource that the calls were built on besides the fields; checked again before writing */
  readonly preconditions: Readonly<Record<string, Json>>;
}

/** Of a change what the digest knows: all that an approval is about (rule 27). */
export type MeantChange = Pick<Change, 'address' | 'action' | 'fields' | 'id' | 'fingerprint'>;

/** Which one of all that may ever bear a name: by its id, or, where it has none, by what it is. */
export type Particular = { readonly id: string } | { readonly fingerprint: string };

/**
 * What an approval of this change is about: of two resources that bore one name, one after the other, the approval to
 * take away the one says nothing about the other. What is created or updated is meant by its name.
 */
export function meantParticular({ action, id, fingerprint }: MeantChange): Particular | undefined {
  if (action !== 'delete' && action !== 'release') return undefined;
  if (id !== undefined) return { id };
  return fingerprint === undefined ? undefined : { fingerprint };
}

/** The remote id that an approval of this change is about; undefined where it is about none. */
export function meantId(change: MeantChange): string | undefined {
  const particular = meantParticular(change);
  return particular !== undefined && 'id' in particular ? particular.id : undefined;
}

/** A resource that trueup looked at, leaves alone, and mentions. */
export interface Mention {
  readonly address: Address;
  readonly message: string;
  readonly fix?: string;
}
