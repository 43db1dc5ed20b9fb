/// The statements prepared at the server, by SQL text and parameter types; the least recently used are dropped first.
struct StatementCache {
    /// How a statement is to be sent.
    enum Decision: Equatable {
        /// It is prepared under this name.
        case prepared(name: String)
        /// Prepare it under this name first, in the same group; drop these names before.
        case prepare(name: String, dropping: [String])
        /// Another group in flight is preparing it and may fail: send it unnamed.
        case unnamed
    }

    struct Key: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private struct Plan {
        let name: String
        /// The group that prepares it; nil once the server has confirmed it.
        var preparingGroup: UInt64?
        var lastUse: UInt64
        /// The last group that uses it. A statement must not be dropped before the groups that use it are sent.
        var lastGroup: UInt64
    }

    private let limit: Int
    private var plans: [Key: Plan] = [:]
    private var keys: [String: Key] = [:]
    private var uses: UInt64 = 0
    private var names: UInt64 = 0

    /// Makes an empty cache; 200 covers all statements of a process.
    init(limit: Int = 200) { self.limit = limit }

    /// The number of statements that are prepared or being prepared.
    var count: Int { plans.count }

    /// Decides how a statement of this group is sent, and records it.
    mutating func use(sql: String, types: [UInt32], group: UInt64) -> Decision {
        uses += 1
        let key = Key(sql: sql, types: types)
        if let index = plans.index(forKey: key) {
            let plan = plans.values[index]
            if let preparing = plan.preparingGroup, preparing != group { return .unnamed }
            plans.values[index].lastUse = uses
            plans.values[index].lastGroup = group
            return .prepared(name: plan.name)
        }
        let dropped = makeRoom(for: group)
        names += 1
        let name = "s\(names)"
        plans[key] = Plan(name: name, preparingGroup: group, lastUse: uses, lastGroup: group)
        keys[name] = key
        return .prepare(name: name, dropping: dropped)
    }

    /// The server has prepared it.
    mutating func confirm(_ name: String) {
        guard let key = keys[name] else { return }
        plans[key]?.preparingGroup = nil
    }

    /// The statement is not prepared, or must be prepared again.
    mutating func forget(_ name: String) {
        guard let key = keys.removeValue(forKey: name) else { return }
        plans[key] = nil
    }

    private mutating func makeRoom(for group: UInt64) -> [String] {
        guard plans.count >= limit else { return [] }
        let idle = plans.values.lazy.filter { $0.preparingGroup == nil && $0.lastGroup != group }
        let oldest = idle.min { $0.lastUse < $1.lastUse }
        guard let oldest else { return [] }
        forget(oldest.name)
        return [oldest.name]
    }
}
