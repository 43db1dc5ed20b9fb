/// What a change of an account or an application means for deliveries under way.
enum RouteNotice {
    /// The maximum number of deliveries named in a line; more would not help.
    private static let named = 10

    /// What to report after changing something that running children use.
    static func children(of what: String) -> String {
        "Running children of \(what) are replaced one by one, within seconds of each other; new children use the change at once."
    }

    /// What happens to deliveries under way; nil if there are none.
    static func text(underWay deliveries: [Int64]) -> String? {
        guard !deliveries.isEmpty else { return nil }
        return
            "Under way: \(list(deliveries)). Messages already sent are not affected. The others use the new values as soon "
            + "as the children are replaced. To keep the two apart, run `pushmta delivery pause` before a change."
    }

    /// What another account of an application means for deliveries under way; nil if there are none.
    static func text(keepingAccount deliveries: [Int64]) -> String? {
        guard !deliveries.isEmpty else { return nil }
        return
            "Under way: \(list(deliveries)). They keep the account that they were created with; later deliveries use the new one."
    }

    private static func list(_ deliveries: [Int64]) -> String {
        let list = deliveries.prefix(named).map(String.init).joined(separator: ", ")
        let more = deliveries.count > named ? " and \(deliveries.count - named) more" : ""
        return (deliveries.count == 1 ? "delivery " : "deliveries ") + list + more
    }
}
