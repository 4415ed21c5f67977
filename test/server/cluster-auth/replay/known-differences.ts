/**
 * The recorded lines that are answered otherwise, each with the reason. A line that becomes equal has to leave the list.
 */
export const knownDifferences: Readonly<Record<string, string>> = {
  'http-016': 'answers are not wrapped: an answer with data is refused where wraps are asked for',
};
