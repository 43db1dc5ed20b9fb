import Store

/// What limits the speed of a delivery or an application, as pages show it: what binds now, then the rest.
enum LimitTables {
    static func values(_ limits: [LimitRow]) -> PageValues {
        // Most limits do not bind, and only say so.
        let binding = limits.filter(\.binds)
        let others = limits.filter { !$0.binds }
        var values: PageValues = ["hasLimits": .flag(!limits.isEmpty)]
        if !binding.isEmpty { values["binding"] = table(binding) }
        if !others.isEmpty { values["others"] = table(others) }
        return values
    }

    private static func table(_ limits: [LimitRow]) -> PageValue {
        .group([
            "limits": .list(
                limits.map { row in
                    [
                        "subject": .text(row.subject), "limit": .text(row.limit), "now": .text(row.now),
                        "most": .text(row.maximum), "setBy": .text(row.setBy),
                        "why": .text(Figures.inZone(row.why)),
                        "binds": .flag(row.binds),
                    ]
                }
            )
        ])
    }
}
