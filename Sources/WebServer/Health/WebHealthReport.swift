import PushCore
import Store

/// What `/health/ready` says.
struct WebHealthReport: Sendable {
    /// Why no requests should come; empty if they should.
    let reasons: [String]
    let isDatabaseConnected: Bool
    /// Applications whose devices cannot be registered. The page is open to everybody, so the log alone names them; and others go on,
    /// so this is no reason against requests.
    let unreadableApplications: Int
    let spoolBytes: Int64
    let numbers: WebCounters.Numbers

    /// One JSON object.
    var json: String {
        let list = reasons.map { JSONObjectText.quoted($0) }.joined(separator: ",")
        let dropped = numbers.dropped
        return """
            {"ready":\(reasons.isEmpty),"reasons":[\(list)],\
            "database":"\(isDatabaseConnected ? "connected" : "away")",\
            "registrations":{"created":\(numbers.created),"updated":\(numbers.updated),"disabled":\(numbers.disabled),\
            "unreadableApplications":\(unreadableApplications)},\
            "tracking":{"stored":\(numbers.hits),"spooled":\(numbers.spooled),"loaded":\(numbers.loaded),\
            "spoolBytes":\(spoolBytes),"malformed":\(dropped.malformed),"forged":\(dropped.forged),\
            "foreign":\(dropped.foreign),"expired":\(numbers.expired)},\
            "limited":\(numbers.limited)}
            """
    }
}
