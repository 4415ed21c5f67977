/** Replaces the references in a call by ids, which are known now, and by secrets, which are read only here. */
import type { AddressText } from '../model/resource/address.ts';
import { type Call, type CallValue, IdReference, isCallObject, SecretReference } from '../model/plan/call.ts';
import { isJsonObject, type Json } from '../model/json/json.ts';
import type { SecretSource } from '../model/stack/target.ts';
import type { WireRequest } from '../model/wire.ts';

interface Resolver {
  idOf(address: AddressText): string | undefined;
  /** @throws with a message for the user when the source holds nothing */
  readSecret(source: SecretSource): Promise<string>;
}

/** @throws when an id is unknown although the call that creates it succeeded: a bug; or when a secret cannot be read */
export async function resolveCall(call: Call, resolver: Resolver): Promise<WireRequest> {
  const path = call.path.map((part) =>
    encodeURIComponent(typeof part === 'string' ? part : idOf(part.$id, resolver)),
  );
  const secrets: string[] = [];
  const collecting: Resolver = {
    ...resolver,
    readSecret: async (source) => {
      const secret = await resolver.readSecret(source);
      secrets.push(secret);
      return secret;
    },
  };
  const body = call.body === undefined ? undefined : await resolveValue(call.body, collecting);
  return {
    method: call.method,
    path: `/${path.join('/')}`,
    ...(isJsonObject(body) ? { body } : {}),
    repeatable: call.repeatable,
    // The service may repeat its request in an error, so the wire must know what to redact.
    ...(secrets.length === 0 ? {} : { secrets }),
  };
}

function idOf(address: AddressText, resolver: Resolver): string {
  const id = resolver.idOf(address);
  if (id === undefined) throw new Error(`no id is known for ${address}`);
  return id;
}

async function resolveValue(value: CallValue, resolver: Resolver): Promise<Json> {
  if (value instanceof IdReference) return idOf(value.$id, resolver);
  if (value instanceof SecretReference) return resolver.readSecret(value.$secret);
  if (Array.isArray(value))
    return Promise.all((value as readonly CallValue[]).map((item) => resolveValue(item, resolver)));
  if (!isCallObject(value)) return value as null | boolean | number | string;
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => [key, await resolveValue(member, resolver)] as const),
  );
  return Object.fromEntries(members);
}
