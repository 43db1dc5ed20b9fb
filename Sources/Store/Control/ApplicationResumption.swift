import PostgresClient

/// What was waited for when an operator resumed an application, and is not waited for any more.
public struct ApplicationResumption: Sendable, Hashable {
    /// A host that waited before it would start another child of the application.
    public struct WaitingHost: Sendable, Hashable {
        public let name: String
        /// Why its last child ended before its first message.
        public let exitReason: String
        /// The last line of what that child said.
        public let stderrTail: String

        public init(name: String, exitReason: String, stderrTail: String) {
            self.name = name
            self.exitReason = exitReason
            self.stderrTail = stderrTail
        }
    }

    /// Whether the application's circuit was open.
    public var wasOpen: Bool
    /// Hosts whose start of children was put off.
    public var hosts: [WaitingHost]
    /// Running children that are in trouble, with the gateway for one: they try again at once.
    public var troubledChildren: Int
    /// Parts whose messages could not be loaded.
    public var parts: Int
    /// Why, of one of them; "" if there is none.
    public var loadProblem: String
    /// Deliveries whose preparation was put off.
    public var preparations: [Int64]
    /// External accounts whose gateway took nothing: sending begins again at once, slowly at first.
    public var accounts: [String] = []

    /// Whether anything was waited for.
    public var hasEnded: Bool {
        wasOpen || !hosts.isEmpty || !accounts.isEmpty || troubledChildren > 0 || parts > 0 || !preparations.isEmpty
    }
}

extension Store {
    /// Ends everything that an application's messages wait for and that can be ended, because an operator put right what was wrong:
    /// its circuit closes, supervisors start its children at once, running ones try again what failed, parts that could not be
    /// loaded and preparations that were put off are tried again. A gateway in trouble is tried at once. The schedule of messages that
    /// were refused softly stays.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter believingRefusals: the push tokens that the gateway refused are really bad: in the parts that there are now no
    ///   mix-up is looked for, so that messages to such tokens fail instead of opening the circuit each time anew.
    @discardableResult
    public func resumeApplication(
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
            throw StoreError(.unexpectedAnswer, "The database gave \(results.count) answers to three statements.")
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

    /// When operators last resumed applications, by their ids: whoever compares two of these sees which were resumed in between.
    public func resumptions() async throws -> [Int32: DatabaseTime] {
        let result = try await query(
            "SELECT application_id, resumed_at FROM pushmta_engine.application_health WHERE resumed_at IS NOT NULL"
        )
        return Dictionary(
            try all(result) { row in (try row.int32(), try row.time()) },
            uniquingKeysWith: { $1 }
        )
    }

    /// No supervisor waits longer than ten minutes before it starts another child. Ends in order, or for what the supervisor itself did, put
    /// nothing off.
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
