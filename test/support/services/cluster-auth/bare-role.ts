/** The response of a real service for a role that was created only with names and namespaces. */
import type { JsonObject } from '../../../../src/model/json.ts';

export const bareRole: JsonObject = {
  bound_service_account_names: ['api'],
  bound_service_account_namespaces: ['payments'],
  bound_service_account_namespace_selector: '',
  alias_name_source: 'serviceaccount_uid',
  token_ttl: 0,
  token_max_ttl: 0,
  token_explicit_max_ttl: 0,
  token_period: 0,
  token_policies: [],
  token_bound_cidrs: [],
  token_no_default_policy: false,
  token_num_uses: 0,
  token_type: 'default',
};
