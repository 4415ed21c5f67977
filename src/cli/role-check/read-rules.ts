/** The role and the config that a login is checked against: those of the manifests, or those that the service has now. */
import type { Session } from '../../model/kind/kind.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { CONFIG_NAME, readOne as readConfig } from '../../kinds/cluster-auth-config/read.ts';
import { clusterAuthConfig } from '../../kinds/cluster-auth-config/index.ts';
import { type LiveConfig, usesAnnotations } from '../../kinds/cluster-auth-config/live-config.ts';
import { readOne as readRole } from '../../kinds/cluster-auth-role/read.ts';
import { clusterAuthRole } from '../../kinds/cluster-auth-role/index.ts';
import type { ChosenRole } from './choose-target.ts';
import { checkedConfig, checkedRole, type LoginRules } from './login-rules.ts';

/** Without a role when there is none. */
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

/** Sends only GET. @throws WireError when the service cannot be reached, or its answer is not understood */
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
