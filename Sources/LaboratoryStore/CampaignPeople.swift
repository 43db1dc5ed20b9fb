import PostgresClient
import Store

extension Store {
    /// Gives the seeded subscribers that ``campaignFilter`` selects time zones and three languages in turn, and every
    /// fourth of them the person of the one before, as a second device.
    ///
    /// - Returns: The people's subscriptions, sorted.
    package func makeCampaignPeople(of applications: [String], zones: [String]) async throws -> [Int64] {
        try await query(Self.campaignPeopleSQL, [.textArray(applications), .textArray(zones)]).one {
            try $0.int64Array()
        }
    }

    /// The filter that selects one in 56 of the seeded subscribers.
    package static let campaignFilter = "recipient.firstName = 'Ada' and recipient.city = 'Lyon'"

    private static let campaignPeopleSQL = """
        WITH chosen AS MATERIALIZED (
            SELECT s.id, s.user_key, row_number() OVER w AS n, lag(s.id) OVER w AS first_id, lag(s.user_key) OVER w AS first_key
            FROM pushmta_engine.subscription s JOIN pushmta_engine.application a ON a.id = s.application_id
            WHERE a.name = ANY($1) AND s.recipient @> '{"firstName": "Ada", "city": "Lyon"}'
            WINDOW w AS (PARTITION BY s.application_id ORDER BY s.id)
        ), changed AS (
            UPDATE pushmta_engine.subscription s SET time_zone = ($2::text[])[1 + c.n % cardinality($2::text[])],
                locale = (ARRAY['en', 'de', 'fr'])[1 + c.n % 3],
                user_key = CASE WHEN c.n % 4 = 0 THEN c.first_key ELSE s.user_key END,
                person_id = CASE WHEN c.n % 4 = 0 THEN c.first_id ELSE s.person_id END
            FROM chosen c WHERE s.id = c.id
            RETURNING s.id
        )
        SELECT coalesce(array_agg(c.id ORDER BY c.id), '{}') FROM changed c
        """

    /// The local time in a zone some seconds from now, as a plan takes it.
    package func localTime(in zone: String, afterSeconds seconds: Int32) async throws -> String {
        try await query(
            """
            SELECT to_char((clock_timestamp() + $2::integer * interval '1 second') AT TIME ZONE $1, 'YYYY-MM-DD"T"HH24:MI:SS')
            """,
            [.text(zone), .int32(seconds)]
        ).one { try $0.text() }
    }
}
