import PostgresClient

/// The waits that ended when an operator resumed an application.
package struct ApplicationResumption: Sendable, Hashable {
    /// A host that waited before starting another child of the application.
    package struct WaitingHost: Sendable, Hashable {
        package let name: String
        /// Why its last child ended before its first message.
        package let exitReason: String
        /// The last line that the child wrote to stderr.
        package let stderrTail: String
    }

    /// Whether the application's circuit was open.
    package var wasOpen: Bool
    /// Hosts that had postponed the start of children.
    package var hosts: [WaitingHost]
    /// Running children with a problem, such as gateway trouble: they try again at once.
    package var troubledChildren: Int
    /// Parts whose messages could not be loaded.
    package var parts: Int
    /// Why one of them could not be loaded; "" if there is none.
    package var loadProblem: String
    /// Deliveries with a postponed preparation.
    package var preparations: [Int64]
    /// External accounts whose gateway took nothing: sending restarts at once, slowly at first.
    package var accounts: [String] = []

    /// Whether any wait has ended.
    package var hasEnded: Bool {
        wasOpen || !hosts.isEmpty || !accounts.isEmpty || troubledChildren > 0 || parts > 0 || !preparations.isEmpty
    }
}

extension Store {
    /// Ends those waits of an application's messages that can be ended, because an operator has fixed the cause. Its
    /// circuit closes, and supervisors start its children at once. Running children retry what failed. Parts that could
    /// not be loaded, postponed preparations and gateways in trouble are tried at once. Messages that were refused
    /// softly keep their schedule.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter believingRefusals: the push tokens that the gateway refused really are bad. In parts that exist now,
    ///   no mix-up is suspected: messages to such tokens fail and do not open the circuit again.
    @discardableResult
    package func resumeApplication(
        named name: String,
        believingRefusals: Bool = false
    ) async throws -> ApplicationResumption {
        let application = try await application(named: name).id
        let results = try await group([
            PostgresStatement(
                """
                SELECT r.was_open, r.parts, r.load_problem, r.preparations, r.accounts
                FROM pushmta_engine.resume_application($1, $2) r
                """,
                [.int32(application), .bool(believingRefusals)]
            ),
            PostgresStatement(Self.waitingHostsSQL, [.int32(application)]),
            PostgresStatement(Self.troubledChildrenSQL, [.int32(application)]),
        ])
        guard results.count == 3 else {
            throw StoreError(.unexpectedAnswer, "The database returned \(results.count) results for three statements.")
        }
        let hosts = try all(results[1]) { row in
            ApplicationResumption.WaitingHost(
                name: try row.text(),
                exitReason: try row.text(),
                stderrTail: try row.text()
            )
        }
        let troubledChildren = try results[2].one { Int(try $0.int64()) }
        return try results[0].one { row in
            ApplicationResumption(
                wasOpen: try row.bool(),
                hosts: hosts,
                troubledChildren: troubledChildren,
                parts: Int(try row.int64()),
                loadProblem: try row.text(),
                preparations: try row.int64Array(),
                accounts: try row.textArray()
            )
        }
    }

    /// When operators last resumed applications, by application id. The difference between two results shows which were
    /// resumed in between.
    package func resumptions() async throws -> [Int32: DatabaseTime] {
        let result = try await query(
            "SELECT application_id, resumed_at FROM pushmta_engine.application_health WHERE resumed_at IS NOT NULL"
        )
        return Dictionary(
            try all(result) { row in (try row.int32(), try row.time()) },
            uniquingKeysWith: { $1 }
        )
    }

    /// No supervisor waits longer than ten minutes before it starts another child. An orderly end, or one caused by the
    /// supervisor itself, postpones nothing.
    private static let waitingHostsSQL = """
        SELECT DISTINCT ON (n.name) n.name, c.exit_reason, coalesce(substring(rtrim(c.stderr_tail, E'\\n') FROM '[^\\n]*$'), '')
        FROM pushmta_engine.mta_child c JOIN pushmta_engine.mta_host n ON n.id = c.host_id
        WHERE c.application_id = $1 AND c.exited_at > now() - interval '10 minutes' AND c.sent + c.failed + c.retried = 0
            AND c.exit_reason IN ('settings', 'journal', 'database', 'usage', 'internal_error', 'unknown_status', 'signalled',
                'out_of_memory', 'not_started')
            AND n.state <> 'stopped'
            AND NOT EXISTS (SELECT FROM pushmta_engine.mta_child l WHERE l.host_id = c.host_id AND l.application_id = $1
                AND l.external_account_id = c.external_account_id AND l.id > c.id)
        ORDER BY n.name, c.id DESC
        """

    private static let troubledChildrenSQL = """
        SELECT count(*) FROM pushmta_engine.mta_child c
        WHERE c.application_id = $1 AND c.exited_at IS NULL AND c.last_error <> ''
        """
}
