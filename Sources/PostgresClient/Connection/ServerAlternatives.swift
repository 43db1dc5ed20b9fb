/// The servers of a connection string that names more than one, to be tried in turn.
///
/// libpq tries the next server when one refuses, but not when one does not answer: only its blocking calls apply time
/// limits, and a caller that polls can merely give up. So each server gets its own attempt.
struct ServerAlternatives {
    /// For each server, the keywords that override those in the string; one empty set if the string is used as it is.
    let overrides: [[(name: String, value: String)]]
    /// The `connect_timeout` of the string, which libpq does not apply when it is polled; nil for none.
    let connectTimeout: Duration?

    init(_ connectionString: String) {
        let given = ConnectionOptions.parse(connectionString)
        // The environment supplies what the string omits.
        let all = ConnectionOptions.defaults().merging(given) { $1 }
        let seconds = all["connect_timeout"].flatMap { Int($0) } ?? 0
        // Like libpq, which uses a minimum of 2 s because a second may end right after it began.
        connectTimeout = seconds > 0 ? .seconds(max(2, seconds)) : nil
        overrides = Self.divide(given, all) ?? [[]]
    }

    private static func divide(
        _ given: [String: String],
        _ all: [String: String]
    ) -> [[(name: String, value: String)]]? {
        // These apply to the list as a whole.
        if all["service"] != nil || all["target_session_attrs"] == "prefer-standby" { return nil }
        if all["load_balance_hosts"].map({ $0 != "disable" }) ?? false { return nil }
        // If the string has host or hostaddr, the environment's other one must not be combined with it.
        let isNamed = given["host"] != nil || given["hostaddr"] != nil
        let source = isNamed ? given : all
        let (hosts, addresses) = (list(source["host"]), list(source["hostaddr"]))
        var ports = list(all["port"])
        let count = max(hosts.count, addresses.count)
        guard count > 1, hosts.isEmpty || hosts.count == count, addresses.isEmpty || addresses.count == count else {
            return nil
        }
        if ports.isEmpty { ports = [""] }
        if ports.count == 1 { ports = Array(repeating: ports[0], count: count) }
        // An empty entry stands for a default that no keyword can name; libpq then gets the whole list.
        guard ports.count == count, (hosts + addresses).allSatisfy({ !$0.isEmpty }) else { return nil }
        return (0..<count).map { position in
            var keywords: [(name: String, value: String)] = []
            if !hosts.isEmpty { keywords.append(("host", hosts[position])) }
            if !addresses.isEmpty { keywords.append(("hostaddr", addresses[position])) }
            keywords.append(("port", ports[position].isEmpty ? "5432" : ports[position]))
            return keywords
        }
    }

    private static func list(_ text: String?) -> [String] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { item in
            String(item.drop(while: \.isWhitespace))
        }
    }
}
