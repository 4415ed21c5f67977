/**
 * Finds which JWTs are accepted or refused after a change of the config. Pure. Trusting another cluster, key or issuer counts as
 * widening; only removing trust narrows.
 */
import type { Json } from '../../model/json.ts';
import type { Risk } from '../../model/guard.ts';
import type { Dialect } from '../../model/stack.ts';
import { fieldValue } from '../../api/cluster-auth-fields.ts';
import { fields } from './fields.ts';
import type { ConfigFields } from './schema.ts';

/** The risks of a change between two complete specs; a missing field has its default. */
export function risk(
  before: ConfigFields | undefined,
  after: ConfigFields | undefined,
  { defaultIssuer = '' }: Pick<Dialect, 'defaultIssuer'>,
): readonly Risk[] {
  if (before === undefined || after === undefined) return [];
  return [
    ...trustEffects('clusterHost', before, after),
    ...trustEffects('clusterCaCert', before, after),
    ...keyEffects(fieldValue(fields, before, 'pemKeys'), fieldValue(fields, after, 'pemKeys')),
    ...switchEffects('disableLocalCaJwt', before, after),
    ...issuerEffects(before, after, defaultIssuer),
  ];
}

function riskOf(name: keyof ConfigFields, effect: Risk['effect'], message: string): Risk {
  return { path: [name], effect, message };
}

function trustEffects(name: keyof ConfigFields, before: ConfigFields, after: ConfigFields): Risk[] {
  if (fieldValue(fields, before, name) === fieldValue(fields, after, name)) return [];
  return [
    riskOf(
      name,
      'widens',
      'JWTs are reviewed by another cluster, or over a connection that trusts another CA',
    ),
  ];
}

/** Without keys, signatures are checked only by the token review; the first key is an additional check. */
function keyEffects(before: Json, after: Json): Risk[] {
  const [old, now] = [before, after].map((keys) => (Array.isArray(keys) ? keys.map(String) : []));
  if (old === undefined || now === undefined) return [];
  const name = 'pemKeys';
  if (old.length === 0)
    return now.length === 0 ? [] : [riskOf(name, 'narrows', 'signatures of JWTs are verified')];
  if (now.length === 0) return [riskOf(name, 'widens', 'signatures of JWTs are no longer verified')];
  return [
    ...(now.some((key) => !old.includes(key))
      ? [riskOf(name, 'widens', 'JWTs signed with another key are accepted')]
      : []),
    ...(old.some((key) => !now.includes(key))
      ? [riskOf(name, 'narrows', 'JWTs of a removed key are refused')]
      : []),
  ];
}

function switchEffects(name: keyof ConfigFields, before: ConfigFields, after: ConfigFields): Risk[] {
  if (fieldValue(fields, before, name) === fieldValue(fields, after, name)) return [];
  return fieldValue(fields, after, name) === true
    ? [riskOf(name, 'narrows', "the service no longer falls back on its own pod's CA and JWT")]
    : [riskOf(name, 'widens', "the service falls back on its own pod's CA and JWT")];
}

/** The issuer is not compared if validation is off, or if no issuer is set and the dialect has no default (wire/cluster-auth 1.7). */
function issuerEffects(before: ConfigFields, after: ConfigFields, defaultIssuer: string): Risk[] {
  const [was, is] = [comparedIssuer(before, defaultIssuer), comparedIssuer(after, defaultIssuer)];
  if (was === is) return [];
  const isSwitched =
    fieldValue(fields, before, 'disableIssValidation') !== fieldValue(fields, after, 'disableIssValidation');
  const name = isSwitched ? 'disableIssValidation' : 'issuer';
  if (was === '') return [riskOf(name, 'narrows', 'the issuer of JWTs is verified')];
  if (is === '') return [riskOf(name, 'widens', 'the issuer of JWTs is no longer verified')];
  return [riskOf(name, 'widens', 'JWTs of another issuer are accepted')];
}

/** Empty if JWTs of any issuer are accepted. */
function comparedIssuer(spec: ConfigFields, defaultIssuer: string): Json {
  if (fieldValue(fields, spec, 'disableIssValidation') === true) return '';
  return fieldValue(fields, spec, 'issuer') || defaultIssuer;
}
