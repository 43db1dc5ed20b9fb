import CLibPQ

/// The servers of a connection string that names several, one after the other.
///
/// libpq goes on to the next one by itself when the first refuses, but not when it does not answer at all: only its blocking
/// calls know of time limits, and a loop of its own can merely give up. So each server gets an attempt of its own.
struct ServerAlternatives {
    /// Keywords that take the place of those in the string, for each server; one empty set if there is nothing to divide.
    let overrides: [[(name: String, value: String)]]
    /// `connect_timeout` of the string, which libpq does not apply to connections that are polled; nil if it has none.
    let connectTimeout: Duration?

    init(_ connectionString: String) {
        let given = ConnectionOptions.parse(connectionString)
        // What the string leaves out comes from the environment.
        let all = ConnectionOptions.defaults().merging(given) { $1 }
        let seconds = all["connect_timeout"].flatMap { Int($0) } ?? 0
        // libpq takes 1 for 2: a second may end right after it began.
        connectTimeout = seconds > 0 ? .seconds(max(2, seconds)) : nil
        overrides = Self.divide(given, all) ?? [[]]
    }

    private static func divide(
        _ given: [String: String],
        _ all: [String: String]
    ) -> [[(name: String, value: String)]]? {
        // These are about the list as a whole.
        if all["service"] != nil || all["target_session_attrs"] == "prefer-standby" { return nil }
        if all["load_balance_hosts"].map({ $0 != "disable" }) ?? false { return nil }
        // An address or a name in the string stands alone: the environment's other one would not fit to it.
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
        // An empty place means a default that no keyword can name; libpq then does the whole list.
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
