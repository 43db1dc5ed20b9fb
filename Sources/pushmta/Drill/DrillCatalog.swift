/// Every drill there is.
enum DrillCatalog {
    /// The word for every drill.
    static let everything = "all"
    /// The word for the short set: drills that take seconds and judge no times.
    static let short = "short"
    /// The messages of a delivery in the short set, unless the caller asks for another number: enough that faults land in the
    /// middle of it; another one follows when it is over.
    static let shortMessages: Int64 = 30_000

    /// The drills in the order in which `all` runs them.
    static var all: [any Drill] { processes + crashes + gateways + databases + hosts }

    /// The drill of that name.
    ///
    /// - Throws: `CommandFailure` that names the nearest one.
    static func drill(named name: String) throws -> any Drill {
        if let drill = all.first(where: { $0.name == name }) { return drill }
        throw CommandFailure(
            .data,
            "There is no drill \(name). These are: \(all.map(\.name).joined(separator: ", "))"
        )
    }

    /// Why a drill cannot run at all in this build or with this gateway; `nil` if it can.
    static func impossibility(_ drill: any Drill, hasSimulator: Bool, hasCrashPoints: Bool) -> String? {
        let obstacles = drill.needs.filter(\.isOfConstruction).compactMap {
            $0.obstacle(hasSimulator: hasSimulator, hasCrashPoints: hasCrashPoints)
        }
        return obstacles.isEmpty ? nil : obstacles.joined(separator: "; ")
    }

    /// The drills that a word of the command line stands for: a name, `all`, or `short`.
    static func drills(for word: String) throws -> [any Drill] {
        switch word {
        case everything: all
        case short: all.filter(\.isShort)
        default: [try drill(named: word)]
        }
    }
}
