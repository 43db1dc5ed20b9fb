/// What a change of an account or an application means for deliveries that are under way.
enum RouteNotice {
    /// Deliveries that are named in a line; more help nobody.
    private static let named = 10

    /// What is said when something is changed that running children have taken over.
    static func children(of what: String) -> String {
        "Children of \(what) that run are replaced one by one, each within seconds of the one before; new ones take it up at once."
    }

    /// What happens to deliveries under way; nil if there are none.
    static func text(underWay deliveries: [Int64]) -> String? {
        guard !deliveries.isEmpty else { return nil }
        return
            "Under way: \(list(deliveries)). What has been sent stays as it is, and what is still to be sent goes out as it is set now, as soon "
            + "as its children are replaced. `pushmta delivery pause` before a change keeps the two apart."
    }

    /// What an application's other account means for deliveries under way; nil if there are none.
    static func text(keepingAccount deliveries: [Int64]) -> String? {
        guard !deliveries.isEmpty else { return nil }
        return
            "Under way: \(list(deliveries)). They go on over the account with which they were created; later ones have the new one."
    }

    private static func list(_ deliveries: [Int64]) -> String {
        let list = deliveries.prefix(named).map(String.init).joined(separator: ", ")
        let more = deliveries.count > named ? " and \(deliveries.count - named) more" : ""
        return (deliveries.count == 1 ? "delivery " : "deliveries ") + list + more
    }
}
