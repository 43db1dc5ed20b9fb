import Foundation
import PushCore
import Store

/// What limits the speed of a delivery or an application, as pages show it: what binds now, then the rest.
enum LimitTables {
    static func values(_ limits: [LimitRow], _ catalogue: Catalogue) -> PageValues {
        // Most limits do not bind, and only say so.
        let binding = limits.filter(\.binds)
        let others = limits.filter { !$0.binds }
        var values: PageValues = ["hasLimits": .flag(!limits.isEmpty)]
        if !binding.isEmpty { values["binding"] = table(binding, catalogue) }
        if !others.isEmpty { values["others"] = table(others, catalogue) }
        return values
    }

    /// The limits that the console has a name for.
    private static let names: [String: Phrase] = [
        "state": .limitState, "plan": .limitPlan, "priority": .limitPriority, "weight": .limitWeight,
        "circuit": .limitCircuit, "gateway": .limitGateway, "account": .limitAccount, "children": .limitChildren,
        "connections": .limitConnections, "messages a second": .limitRate,
    ]
    /// What keeps the messages of an application from leaving at all.
    private static let barriers: Set<String> = ["circuit", "gateway", "account"]
    /// What the engine calls a health signal begins so; its name follows.
    private static let signal = "signal "

    /// What limits, in the words of the console where it has them; nil for what only the engine has a name for.
    private static func name(_ row: LimitRow, _ catalogue: Catalogue) -> String? {
        if row.limit.hasPrefix(signal) {
            return catalogue.text(.limitSignal, String(row.limit.dropFirst(signal.count)))
        }
        return names[row.limit].map { catalogue[$0] }
    }

    /// Whether messages of an application wait until something is well again.
    static func isBarrier(_ row: LimitRow) -> Bool { row.binds && barriers.contains(row.limit) }

    /// The delivery's own rate, if it is what limits it now: what was measured before it was set says nothing.
    static func rate(_ limits: [LimitRow]) -> Double? {
        limits.first { $0.binds && $0.limit == "messages a second" && isOwn($0) }.flatMap { Double($0.now) }
    }

    /// A limit that binds, with its present value, in a line.
    static func line(_ row: LimitRow, _ catalogue: Catalogue) -> String {
        let name = row.limit == "circuit" ? catalogue[.standingCircuit] : Self.name(row, catalogue) ?? row.limit
        // The state and the plan are shown elsewhere on the page.
        let value = ["state", "plan", "circuit"].contains(row.limit) ? "" : row.now
        let words = "\(name) \(value)".trimmed
        return isOwn(row) ? words : "\(subject(row)): \(words)"
    }

    /// Whether it is a limit of the delivery itself.
    private static func isOwn(_ row: LimitRow) -> Bool { row.subject.hasPrefix("delivery ") }

    /// What is limited. An account often has the name of its application.
    private static func subject(_ row: LimitRow) -> String {
        let ends = row.subject.components(separatedBy: " over ")
        return ends.count == 2 && ends[0] == ends[1] ? ends[0] : row.subject
    }

    /// Why it has its value, without the commands of those who have no console.
    static func why(_ row: LimitRow) -> String {
        Figures.inZone(row.why.withoutCommands)
    }

    /// What sets a limit, for people who have the console and no command line; nil if no command does.
    private static func setter(_ row: LimitRow, _ catalogue: Catalogue) -> String? {
        let setters: [(String, Phrase)] = [
            ("pushmta delivery pause", .limitByButtons), ("pushmta delivery weight", .limitByWeight),
            ("pushmta delivery plan", .limitByPlan), ("pushmta delivery rate", .limitByRate),
            ("pushmta delivery follow", .limitByFollow), ("pushmta account set", .limitByAccount),
            ("pushmta rate set", .limitByScope),
            ("what the gateway answered", row.binds ? .limitByResume : .limitByGateway),
        ]
        return setters.first { row.setBy.contains($0.0) }.map { catalogue[$0.1] }
    }

    private static func table(_ limits: [LimitRow], _ catalogue: Catalogue) -> PageValue {
        .group([
            "limits": .list(
                limits.map { row -> PageValues in
                    let (told, setBy) = (Self.name(row, catalogue), setter(row, catalogue))
                    let state = row.limit == "state" ? DeliveryState(rawValue: row.now) : nil
                    return [
                        // A name keeps its letters.
                        "subject": .text(isOwn(row) ? row.subject.capitalisedFirst : subject(row)),
                        "limit": .text(told ?? row.limit),
                        "isNamed": .flag(told != nil), "isState": .flag(state != nil),
                        "now": .text(state.map { catalogue.state($0) } ?? row.now),
                        "most": .text(row.maximum), "setBy": .text(setBy ?? row.setBy),
                        "isTold": .flag(setBy != nil),
                        "why": .text(why(row)),
                        "binds": .flag(row.binds),
                    ]
                }
            )
        ])
    }
}
