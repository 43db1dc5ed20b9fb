import PostgresClient

/// A user of the console, as lists show it.
public struct ConsoleUserRow: Sendable, Hashable {
    /// The name to sign in with.
    public let name: String
    /// What the user may do.
    public let role: ConsoleRole
    /// Whether the password has to be changed at the next sign-in.
    public let isOneTime: Bool
    /// When the user was added.
    public let createdAt: DatabaseTime
    /// When role or password were changed last.
    public let changedAt: DatabaseTime
    /// Sessions that are open, as far as their end was not noticed.
    public let sessions: Int64
}

/// Who changes users, for the audit log.
public struct AuditAuthor: Sendable, Hashable {
    public var name: String
    /// The address or machine.
    public var origin: String

    public init(name: String, origin: String) {
        self.name = name
        self.origin = origin
    }

    fileprivate var values: [PostgresValue] { [.text(name), .text(origin)] }
}

extension Store {
    /// Lets somebody sign in to the console.
    ///
    /// Throws ``StoreError`` of code `conflict` if there is a user of that name.
    ///
    /// - Parameter isOneTime: whether the user has to choose another password before anything else.
    public func addConsoleUser(
        _ name: String,
        role: ConsoleRole,
        passwordHash: String,
        isOneTime: Bool = false,
        by author: AuditAuthor
    ) async throws {
        try NameCheck.name(name, of: "user")
        try await query(
            "SELECT pushmta_engine.console_add_user($1, $2, $3, $4, $5, $6)",
            [.text(name), .text(role.rawValue), .text(passwordHash), .bool(isOneTime)] + author.values
        )
    }

    /// Puts on record that somebody sees texts of messages on the wire.
    public func noteUnmaskedTrace(application: String, detail: String, by author: AuditAuthor) async throws {
        try await query(
            "SELECT pushmta_engine.note_audit($1, 'trace.unmasked', $2, $3, $4)",
            [.text(author.name), .text("application \(application)"), .text(detail), .text(author.origin)]
        )
    }

    /// Gives a user of the console another role or password; a new password ends the user's sessions.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter isOneTime: whether the user has to choose another password than the new one before anything else.
    public func changeConsoleUser(
        _ name: String,
        role: ConsoleRole? = nil,
        passwordHash: String? = nil,
        isOneTime: Bool = false,
        by author: AuditAuthor
    ) async throws {
        try await query(
            "SELECT pushmta_engine.console_change_user($1, $2, $3, $4, $5, $6)",
            [.text(name), .textOrNull(role?.rawValue), .textOrNull(passwordHash), .bool(isOneTime)] + author.values
        )
    }

    /// Takes a user out of the console.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    public func removeConsoleUser(_ name: String, by author: AuditAuthor) async throws {
        try await query("SELECT pushmta_engine.console_remove_user($1, $2, $3)", [.text(name)] + author.values)
    }

    /// All users of the console, by name.
    public func consoleUsers() async throws -> [ConsoleUserRow] {
        let result = try await query(
            """
            SELECT u.name, u.role, u.one_time, u.created_at, u.changed_at,
                (SELECT count(*) FROM pushmta_engine.console_session s WHERE s.user_id = u.id AND s.expires_at > now())
            FROM pushmta_engine.console_user u ORDER BY u.name
            """
        )
        return try all(result) { row in
            ConsoleUserRow(
                name: try row.text(),
                role: try row.choice(),
                isOneTime: try row.bool(),
                createdAt: try row.time(),
                changedAt: try row.time(),
                sessions: try row.int64()
            )
        }
    }
}
