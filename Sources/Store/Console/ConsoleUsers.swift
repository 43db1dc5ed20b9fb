import PostgresClient

/// A user of the console, as lists show it.
package struct ConsoleUserRow: Sendable, Hashable {
    /// The name to sign in with.
    package let name: String
    /// What the user may do.
    package let role: ConsoleRole
    /// Whether the password has to be changed at the next sign-in.
    package let isOneTime: Bool
    /// When the user was added.
    package let createdAt: DatabaseTime
    /// When the role or the password was last changed.
    package let changedAt: DatabaseTime
    /// Open sessions.
    package let sessions: Int64
}

/// The author of a change of users, for the audit log.
package struct AuditAuthor: Sendable, Hashable {
    package var name: String
    /// The address or machine.
    package var origin: String

    package init(name: String, origin: String) {
        self.name = name
        self.origin = origin
    }

    fileprivate var values: [PostgresValue] { [.text(name), .text(origin)] }
}

extension Store {
    /// Adds a user of the console.
    ///
    /// Throws ``StoreError`` of code `conflict` if the name is taken.
    ///
    /// - Parameter isOneTime: whether the user must choose a new password first.
    package func addConsoleUser(
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

    /// Logs that an operator sees texts of messages on the wire.
    package func noteUnmaskedTrace(application: String, detail: String, by author: AuditAuthor) async throws {
        try await query(
            "SELECT pushmta_engine.note_audit($1, 'trace.unmasked', $2, $3, $4)",
            [.text(author.name), .text("application \(application)"), .text(detail), .text(author.origin)]
        )
    }

    /// Changes the role or the password of a console user; a new password ends the user's sessions.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter isOneTime: whether the user must replace the new password first.
    package func changeConsoleUser(
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

    /// Removes a user of the console.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func removeConsoleUser(_ name: String, by author: AuditAuthor) async throws {
        try await query("SELECT pushmta_engine.console_remove_user($1, $2, $3)", [.text(name)] + author.values)
    }

    /// All users of the console, by name. Sessions that ended without use are counted until their time is over.
    package func consoleUsers() async throws -> [ConsoleUserRow] {
        try await consoleUsers(
            """
            SELECT u.name, u.role, u.one_time, u.created_at, u.changed_at,
                (SELECT count(*) FROM pushmta_engine.console_session s WHERE s.user_id = u.id AND s.expires_at > now())
            FROM pushmta_engine.console_user u ORDER BY u.name
            """,
            []
        )
    }

    private func consoleUsers(_ sql: String, _ values: [PostgresValue]) async throws -> [ConsoleUserRow] {
        let result = try await query(sql, values)
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

/// What a signed-in administrator does in the console. Each throws ``StoreError`` with `sqlState` `PM090` if the session
/// has ended, and `PM091` if its user is no administrator; a change of the administrator's own account, `PM096`.
extension Store {
    /// All users of the console, by name.
    package func consoleUsers(by actor: ConsoleActor) async throws -> [ConsoleUserRow] {
        try await consoleUsers(
            """
            SELECT u.name, u.role, u.one_time, u.created_at, u.changed_at, u.sessions
            FROM pushmta_engine.console_admin_users(\(ConsoleActor.caller)) u ORDER BY u.name
            """,
            actor.values
        )
    }

    /// Adds a user of the console with a one-time password.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM093` if the name is taken.
    package func addConsoleUser(
        _ name: String,
        role: ConsoleRole,
        oneTimeHash hash: String,
        by actor: ConsoleActor
    ) async throws {
        try NameCheck.name(name, of: "user")
        try await query(
            "SELECT pushmta_engine.console_admin_add_user(\(ConsoleActor.caller), $5, $6, $7)",
            actor.values + [.text(name), .text(role.rawValue), .text(hash)]
        )
    }

    /// Changes the role of another user, from the user's next page on.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func changeConsoleUser(_ name: String, role: ConsoleRole, by actor: ConsoleActor) async throws {
        try await changeConsoleUser(name, role: role, hash: nil, by: actor)
    }

    /// Gives another user a one-time password; all sessions of the user end.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func changeConsoleUser(_ name: String, oneTimeHash: String, by actor: ConsoleActor) async throws {
        try await changeConsoleUser(name, role: nil, hash: oneTimeHash, by: actor)
    }

    private func changeConsoleUser(_ name: String, role: ConsoleRole?, hash: String?, by actor: ConsoleActor)
        async throws
    {
        try await breakingCircles(
            "SELECT pushmta_engine.console_admin_change_user(\(ConsoleActor.caller), $5, $6, $7)",
            actor.values + [.text(name), .textOrNull(role?.rawValue), .textOrNull(hash)]
        )
    }

    /// Removes another user of the console; all sessions of the user end.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func removeConsoleUser(_ name: String, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_admin_remove_user(\(ConsoleActor.caller), $5)",
            actor.values + [.text(name)]
        )
    }
}
