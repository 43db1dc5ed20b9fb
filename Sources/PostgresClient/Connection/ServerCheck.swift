/// Checks whether a server and its database are supported.
package enum ServerCheck {
    /// The minimum version, in libpq's notation. Older ones lack features that are used, and PostgreSQL no longer
    /// supports version 14.
    static let minVersion: Int32 = 150_000
    /// The newest major version that has been tested; `Deploy/test release` runs the tests on each version from the
    /// minimum to this one.
    static let newestTested: Int32 = 18

    /// The warning about a server that is newer than the tested versions; nil for others.
    ///
    /// - Parameter major: the major version: 18 for 18.6.
    package static func warning(major: Int32) -> String? {
        guard major > newestTested else { return nil }
        let tested = "\(number(minVersion)) to \(newestTested)"
        return "the server is PostgreSQL \(major), but this version of PushMTA was tested on \(tested): "
            + "look for a newer PushMTA, or test with a copy of the database first"
    }

    /// Why a server is not supported; nil if it is.
    ///
    /// - Parameters:
    ///   - version: in libpq's notation: 150018 for 15.18.
    ///   - encoding: the database's encoding; nil if unknown.
    static func problem(version: Int32, encoding: String?) -> PostgresError? {
        guard version >= minVersion else {
            return PostgresError(
                code: .server,
                message: "the server is PostgreSQL \(number(version)); at least \(number(minVersion)) is needed",
                remedy: "Upgrade it with pg_upgrade, or restore a dump into a newer server."
            )
        }
        guard let encoding, encoding != "UTF8" else { return nil }
        return PostgresError(
            code: .server,
            message:
                "the database has the encoding \(encoding), which cannot store or check all characters; UTF8 is needed",
            remedy:
                "Create a new one (createdb --encoding UTF8 --template template0 NAME), and name it in database.url."
        )
    }

    /// The problem of a session in which triggers do not fire; nil if they do. Only a superuser may change the setting,
    /// so a session cannot correct it.
    static func problem(replicationRole role: String) -> PostgresError? {
        guard role == "replica" else { return nil }
        return PostgresError(
            code: .server,
            message: "session_replication_role is replica: triggers do not fire, so outcomes cannot be stored",
            remedy: "As a superuser, RESET it for the role, the database or the server, wherever it is set."
        )
    }

    private static func number(_ version: Int32) -> String {
        // Since version 10 the second part is the minor version.
        version >= 100_000 ? "\(version / 10_000)" : "\(version / 10_000).\(version / 100 % 100)"
    }
}
