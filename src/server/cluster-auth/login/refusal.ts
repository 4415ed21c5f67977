/** Why a login fails, as it is told. */

export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Whether this is a refusal, and not what was asked for. */
export function isRefusal(result: object): result is Refusal {
  return 'status' in result;
}
