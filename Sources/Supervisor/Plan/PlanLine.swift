import Logging
import ProcessEvents
import PushCore
import Store

/// What a plan says to the operator.
struct PlanLine: Sendable, Equatable {
    var level: Logger.Level
    var event: ProcessEvent?
    var text: String
    /// What the line is about, under the keys that all lines have.
    var metadata: Logger.Metadata = [:]

    /// A line of no event.
    init(_ level: Logger.Level, _ text: String, _ metadata: Logger.Metadata = [:]) {
        self.level = level
        self.text = text
        self.metadata = metadata
    }

    /// The line of an event.
    init(_ event: ProcessEvent, _ text: String, level: Logger.Level? = nil, _ metadata: Logger.Metadata = [:]) {
        self.level = level ?? event.level
        self.event = event
        self.text = text
        self.metadata = metadata
    }
}

/// What people call applications and external accounts; ids stand in before the database has told the names.
struct RouteNames: Sendable {
    var applications: [Int32: String] = [:]
    var accounts: [Int32: String] = [:]

    init() {}

    init(_ routes: RouteVersions?) {
        applications = routes?.applicationNames ?? [:]
        accounts = routes?.accountNames ?? [:]
    }

    /// A kind of children in words.
    func text(_ kind: ChildKind) -> String {
        guard let application = applications[kind.applicationID], let account = accounts[kind.accountID] else {
            return kind.description
        }
        return "application \(application) through account \(account) (\(kind.connector.rawValue))"
    }

    /// An application's name, or its id before that is known.
    func application(_ id: Int32) -> String { applications[id] ?? String(id) }

    /// The keys of a line about a kind of children, and one of them.
    func keys(_ kind: ChildKind, child: Int64? = nil) -> Logger.Metadata {
        var keys: Logger.Metadata = [
            "application": "\(application(kind.applicationID))",
            "account": "\(accounts[kind.accountID] ?? String(kind.accountID))",
        ]
        if let child { keys["child"] = "\(child)" }
        return keys
    }
}

extension SupervisorPlan {
    func text(_ kind: ChildKind) -> String { RouteNames(routes).text(kind) }

    /// An application's name, or its id before that is known.
    func application(_ id: Int32) -> String { routes?.applicationNames[id] ?? String(id) }

    /// A child in words: the id of its row in `mta_child`, as everywhere.
    func text(_ child: ChildRecord) -> String {
        child.id.map { "child \($0)" } ?? "a child that is being started"
    }

    /// The same at the head of a sentence.
    func name(_ child: ChildRecord) -> String {
        let text = text(child)
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The keys of a line about a child.
    func keys(_ child: ChildRecord) -> Logger.Metadata { RouteNames(routes).keys(child.kind, child: child.id) }

    /// The keys of a line about a kind.
    func keys(_ kind: ChildKind) -> Logger.Metadata { RouteNames(routes).keys(kind) }
}
