import Logging
import ProcessEvents
import PushCore
import Store

/// A log line of the plan.
struct PlanLine: Sendable, Equatable {
    var level: Logger.Level
    var event: ProcessEvent?
    var text: String
    /// The metadata of the line, under the keys that all lines use.
    var metadata: Logger.Metadata = [:]

    /// A line without an event.
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

extension SupervisorPlan {
    func text(_ kind: ChildKind) -> String { RouteNames(routes).text(kind) }

    /// An application's name, or its id until the name is known.
    func application(_ id: Int32) -> String { routes?.applicationNames[id] ?? String(id) }

    /// The text for a child: the id of its row in `mta_child`, as everywhere.
    func text(_ child: ChildRecord) -> String {
        child.id.map { "child \($0)" } ?? "a child that is being started"
    }

    /// The same at the start of a sentence.
    func name(_ child: ChildRecord) -> String {
        let text = text(child)
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The keys of a line about a child.
    func keys(_ child: ChildRecord) -> Logger.Metadata { RouteNames(routes).keys(child.kind, child: child.id) }

    /// The keys of a line about a kind.
    func keys(_ kind: ChildKind) -> Logger.Metadata { RouteNames(routes).keys(kind) }
}
