/**
 * The rules that a login is checked against: the fields of a role and of the config of its mount in canonical form, from the manifests
 * or from the service.
 */
import { fieldValue } from '../../api/cluster-auth-fields.ts';
import {
  fields as configFields,
  type LiveConfig,
  usesAnnotations,
} from '../../kinds/cluster-auth-config/fields.ts';
import { clusterAuthConfig } from '../../kinds/cluster-auth-config/index.ts';
import { CONFIG_NAME, readOne as readConfig } from '../../kinds/cluster-auth-config/read.ts';
import type { ConfigFields } from '../../kinds/cluster-auth-config/schema.ts';
import { refusedPolicy } from '../../kinds/cluster-auth-role/check-tokens.ts';
import { texts } from '../../kinds/cluster-auth-role/describe-access.ts';
import { NAMES, NAMESPACES, fields as roleFields, SELECTOR } from '../../kinds/cluster-auth-role/fields.ts';
import { clusterAuthRole } from '../../kinds/cluster-auth-role/index.ts';
import { readOne as readRole } from '../../kinds/cluster-auth-role/read.ts';
import type { RoleFields } from '../../kinds/cluster-auth-role/schema.ts';
import type { Json } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import type { Spec } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import type { ChosenRole } from './choose-target.ts';

/** The fields of a role that decide about a login. */
export interface CheckedRole {
  readonly names: readonly string[];
  readonly namespaces: readonly string[];
  /** empty if the role has none */
  readonly selector: string;
  /** empty if any is allowed */
  readonly audience: string;
  readonly aliasSource: string;
  readonly boundBlocks: readonly string[];
  /** the first policy that the service refuses to give, if any, and why as a clause */
  readonly refusedPolicy: ReturnType<typeof refusedPolicy>;
}

/** The fields of a config that decide about a login. */
interface CheckedConfig {
  readonly host: string;
  readonly hasCaCert: boolean;
  /** PEM texts */
  readonly pemKeys: readonly string[];
  /** empty if the issuer is not compared */
  readonly issuer: string;
  /** whether the service may use the CA certificate and JWT of its pod */
  readonly usesPodFiles: boolean;
  /** undefined if the service does not report it */
  readonly hasReviewerJwt: boolean | undefined;
  /** whether annotations of the account become metadata of its identity; manifests cannot set it */
  readonly usesAnnotations: boolean;
}

export interface LoginRules {
  readonly role: CheckedRole;
  readonly config: KnownConfig;
}

export type KnownConfig =
  | { readonly is: 'known'; readonly config: CheckedConfig }
  /** the mount has no config */
  | { readonly is: 'none' }
  /** the manifests do not declare the config */
  | { readonly is: 'undeclared' };

/** Fields that the spec lacks have their defaults. */
export function checkedRole(spec: RoleFields, dialect: Pick<Dialect, 'reservedPolicies'>): CheckedRole {
  const value = (name: keyof RoleFields) => fieldValue<Spec>(roleFields, spec, name);
  return {
    names: texts(value(NAMES)),
    namespaces: texts(value(NAMESPACES)),
    selector: text(value(SELECTOR)),
    audience: text(value('audience')),
    aliasSource: text(value('aliasNameSource')),
    boundBlocks: texts(value('tokenBoundCidrs')),
    refusedPolicy: refusedPolicy(texts(value('tokenPolicies')), dialect),
  };
}

/** Facts of a live config, in addition to its spec. */
interface ConfigFacts {
  /** null if the service does not report whether it has one */
  readonly hasReviewerJwt: boolean | null;
  readonly usesAnnotations: boolean;
}

/**
 * @param dialect decides what an empty issuer means, and what a host without a scheme is
 * @param facts of a live config
 */
export function checkedConfig(
  spec: ConfigFields,
  { defaultIssuer = '', takesBareHosts }: Pick<Dialect, 'defaultIssuer' | 'takesBareHosts'>,
  facts: ConfigFacts = { hasReviewerJwt: isSet(spec.tokenReviewerJwt), usesAnnotations: false },
): CheckedConfig {
  const value = (name: keyof ConfigFields) => fieldValue<Spec>(configFields, spec, name);
  const host = text(value('clusterHost'));
  return {
    host: takesBareHosts && host !== '' && !host.includes('/') ? `https://${host}` : host,
    hasCaCert: text(value('clusterCaCert')) !== '',
    pemKeys: texts(value('pemKeys')),
    issuer: value('disableIssValidation') === true ? '' : text(value('issuer')) || defaultIssuer,
    usesPodFiles: value('disableLocalCaJwt') !== true,
    hasReviewerJwt: facts.hasReviewerJwt ?? undefined,
    usesAnnotations: facts.usesAnnotations,
  };
}

function text(value: Json): string {
  return typeof value === 'string' ? value : '';
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

// Finds the role and the config that a login is checked against, in the manifests or in the service.

/** `role` is absent if the role does not exist. */
export type FoundRules = Pick<LoginRules, 'config'> & Partial<Pick<LoginRules, 'role'>>;

export function declaredRules({ role, config }: ChosenRole, dialect: Dialect): FoundRules {
  return {
    ...(role === undefined ? {} : { role: checkedRole(role.spec, dialect) }),
    config:
      config === undefined
        ? { is: 'undeclared' }
        : { is: 'known', config: checkedConfig(config.spec, dialect) },
  };
}

/** Sends only GET. @throws WireError if the service cannot be reached, or its answer is not understood */
export async function liveRules(session: Session, name: string): Promise<FoundRules> {
  const target = session.target.name;
  const role = await readRole(session, { kind: clusterAuthRole.name, target, name });
  const config = await readConfig(session, { kind: clusterAuthConfig.name, target, name: CONFIG_NAME });
  return {
    ...(role === undefined ? {} : { role: checkedRole(role.spec, session.dialect) }),
    config:
      config === undefined
        ? { is: 'none' }
        : { is: 'known', config: checkedConfig(config.spec, session.dialect, factsOf(config)) },
  };
}

function factsOf({ facts }: LiveConfig) {
  return { hasReviewerJwt: facts.reviewerJwtSet ?? null, usesAnnotations: usesAnnotations(facts) };
}
