import Logging
import PushCore
import Store

/// The names of applications and external accounts; ids stand in until the names are known.
struct RouteNames: Sendable {
    var applications: [Int32: String] = [:]
    var accounts: [Int32: String] = [:]

    init() {}

    init(_ routes: RouteVersions?) {
        applications = routes?.applicationNames ?? [:]
        accounts = routes?.accountNames ?? [:]
    }

    /// The text for a kind.
    func text(_ kind: ChildKind) -> String {
        guard let application = applications[kind.applicationID], let account = accounts[kind.accountID] else {
            return kind.description
        }
        return "application \(application) through account \(account) (\(kind.connector.rawValue))"
    }

    /// An application's name, or its id until the name is known.
    func application(_ id: Int32) -> String { applications[id] ?? String(id) }

    /// The keys of a line about a kind, and optionally about one child.
    func keys(_ kind: ChildKind, child: Int64? = nil) -> Logger.Metadata {
        var keys: Logger.Metadata = [
            "application": "\(application(kind.applicationID))",
            "account": "\(accounts[kind.accountID] ?? String(kind.accountID))",
        ]
        if let child { keys["child"] = "\(child)" }
        return keys
    }
}
