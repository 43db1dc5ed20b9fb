/// The control groups whose members get nothing of a delivery, as a condition of a chunk's statement.
struct ControlGroups: Sendable, Hashable {
    /// The members among the subscribers of some applications.
    struct Group: Sendable, Hashable {
        var applications: [Int32]
        /// The key of the hash that places a person between 0 and 1.
        let seed: Int64
        /// The place, as the database writes it, below which a person is a member.
        let share: String
    }

    /// One for each service, in the order of their applications.
    private(set) var groups: [Group] = []

    /// The code, for `exclusion_name`, of those who are left out.
    static let exclusion: Int16 = 12

    /// The columns of a subscription that the condition reads.
    static let subscriptionColumns: Set<String> = ["application_id", "user_key"]

    /// The groups of delivery `d`, as columns of a list: applications, seeds and shares.
    static let columnsSQL = ["application_id", "seed", "share::text"].map { column in
        "ARRAY(SELECT c.\(column) FROM pushmta_engine.control_of(d.id) c ORDER BY c.application_id)"
    }.joined(separator: ", ")

    /// Reads ``columnsSQL``; nil if there are no groups.
    init?(_ row: inout RowReader) throws {
        let (applications, seeds, shares) = (try row.int32Array(), try row.int64Array(), try row.textArray())
        guard !applications.isEmpty else { return nil }
        for ((application, seed), share) in zip(zip(applications, seeds), shares) {
            if let place = groups.firstIndex(where: { $0.seed == seed && $0.share == share }) {
                groups[place].applications.append(application)
            } else {
                groups.append(Group(applications: [application], seed: seed, share: share))
            }
        }
    }

    /// The condition that a subscription belongs to a member.
    ///
    /// The numbers stand in the text: they change rarely, and the rest of the statement need not read them.
    func condition(of subscription: String) -> String {
        let person = "coalesce(nullif(\(subscription).user_key, ''), \(subscription).id::text)"
        let tests = groups.map { group in
            let applications = group.applications.map { "\($0)" }.joined(separator: ", ")
            return """
                \(subscription).application_id IN (\(applications))
                    AND pushmta_engine.person_share(\(person), '\(group.seed)'::bigint) < '\(group.share)'::double precision
                """
        }
        return "(\(tests.joined(separator: " OR ")))"
    }
}
