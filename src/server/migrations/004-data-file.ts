/**
 * What a data file says of itself: the key with which whoever serves it proves that, and who that was last.
 * The key stands nowhere else, and only the file's owner can read it.
 */
export const DATA_FILE = `
CREATE TABLE data_file (
  proof_key TEXT NOT NULL,
  served_by_pid INTEGER
) STRICT;
INSERT INTO data_file (proof_key) VALUES (lower(hex(randomblob(32))));
`;
