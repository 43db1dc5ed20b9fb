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

    /// What limits, in the words of the console where it has them; nil for what only the engine has a name for.
    static func name(_ row: LimitRow, _ catalogue: Catalogue) -> String? {
        switch row.limit {
        case "state": catalogue[.limitState]
        case "plan": catalogue[.limitPlan]
        default: nil
        }
    }

    /// What sets a limit, for people who have the console and no command line; nil if no command does.
    private static func setter(_ row: LimitRow, _ catalogue: Catalogue) -> String? {
        let setters: [(String, Phrase)] = [
            ("pushmta delivery pause", .limitByButtons), ("pushmta delivery weight", .limitByWeight),
            ("pushmta delivery plan", .limitByPlan), ("pushmta delivery rate", .limitByRate),
            ("pushmta delivery follow", .limitByFollow), ("pushmta account set", .limitByAccount),
            ("pushmta rate set", .limitByScope),
        ]
        return setters.first { row.setBy.contains($0.0) }.map { catalogue[$0.1] }
    }

    private static func table(_ limits: [LimitRow], _ catalogue: Catalogue) -> PageValue {
        .group([
            "limits": .list(
                limits.map { row -> PageValues in
                    let (told, setBy) = (Self.name(row, catalogue), setter(row, catalogue))
                    let state = row.limit == "state" ? DeliveryState(rawValue: row.now) : nil
                    // A name keeps its letters.
                    let isOwn = row.subject.hasPrefix("delivery ")
                    return [
                        "subject": .text(isOwn ? row.subject.capitalisedFirst : row.subject),
                        "limit": .text(told ?? row.limit),
                        "isNamed": .flag(told != nil), "isState": .flag(state != nil),
                        "now": .text(state.map { catalogue.state($0) } ?? row.now),
                        "most": .text(row.maximum), "setBy": .text(setBy ?? row.setBy),
                        "isTold": .flag(setBy != nil),
                        "why": .text(Figures.inZone(row.why)),
                        "binds": .flag(row.binds),
                    ]
                }
            )
        ])
    }
}
