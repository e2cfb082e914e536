/** Opens an account, and gives its id. */
export async function openAccount(client, owner, balance) {
  const { rows } = await client.query('INSERT INTO accounts (owner, balance) VALUES ($1, $2) RETURNING id', [owner, balance])
  return rows[0].id
}

/** Moves money, or nothing at all. */
export async function transfer(client, from, to, amount) {
  await client.query('BEGIN')
  try {
    for (const [account, change] of [
      [to, amount],
      [from, -amount],
    ]) {
      await client.query('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [account, change])
      await client.query('INSERT INTO entries (account, amount) VALUES ($1, $2)', [account, change])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

export async function balances(client) {
  const { rows } = await client.query('SELECT owner, balance FROM accounts ORDER BY owner')
  return Object.fromEntries(rows.map(({ balance, owner }) => [owner, balance]))
}

export async function countEntries(client) {
  const { rows } = await client.query('SELECT count(*)::int AS count FROM entries')
  return rows[0].count
}
