import PushCore
import Store
import Testing

@testable import WebServer

/// Plans of deliveries, and sending hours of services, through the API.
@Suite struct APIPlanTests {
    private func edited(_ site: APISite) async throws -> Int64 {
        try await site.web.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
    }

    @Test func aPlanIsReplacedReadAndRemoved() async throws {
        let site = try await APISite.start()
        let id = try await edited(site)
        let key = try await site.key(.writeDeliveries, .readDeliveries)
        let path = "/deliveries/\(id)/plan"
        let none = try await site.call("GET", path, key: key)
        #expect(none.status == 200 && none["localTime"] == "null" && none.count("waves") == 0, "\(none.answer)")
        let set = try await site.call(
            "PUT",
            path,
            key: key,
            #"{"localTime": "2036-12-01T09:00", "onPast": "skip", "hours": "drop", "waves": [{"percent": 5, "maxFailed": 0.02}, {"count": 10, "startAt": "2036-12-01T10:00:00+01:00"}, {"afterSeconds": 3600}]}"#
        )
        #expect(set.status == 200, "\(set.answer)")
        let read = try await site.call("GET", path, key: key)
        #expect(read.answer.body == set.answer.body)
        #expect(read["localTime"] == "2036-12-01T09:00:00" && read["onPast"] == "skip" && read["hours"] == "drop")
        #expect(read["plannedMessages"] == "0" && read["nextAt"] == "null" && read.count("waves") == 3)
        #expect(read["waves.0.maxFailed"] == "0.02" && read["waves.0.maxTokenErrors"] == "0.2")
        #expect(read["waves.0.state"] == "waiting" && read["waves.1.count"] == "10")
        #expect(read["waves.1.startAt"] == "2036-12-01T09:00:00.000000Z" && read["waves.2.afterSeconds"] == "3600")
        let removed = try await site.call("PUT", path, key: key, "{}")
        #expect(removed.status == 200 && removed["localTime"] == "null" && removed.count("waves") == 0)
        try await site.finish()
    }

    @Test(
        arguments: [
            (#"{"localTime": "2036-12-01T09:00Z", "onPast": "now"}"#, "/localTime"),
            (#"{"localTime": "2036-13-01T09:00", "onPast": "now"}"#, "/localTime"),
            (#"{"localTime": "2036-12-01T09:00", "onPast": "later"}"#, "/onPast"), (#"{"onPast": "now"}"#, ""),
            (#"{"waves": [{}]}"#, "/waves"), (#"{"waves": [{}, {}]}"#, "/waves/0"),
            (#"{"waves": [{"percent": 5, "count": 5}, {}]}"#, "/waves/0"),
            (#"{"waves": [{"count": 5}, {"count": 5}]}"#, "/waves/1"),
            (#"{"waves": [{"count": 0}, {}]}"#, "/waves/0/count"),
            (#"{"waves": [{"count": 5, "maxFailed": 2}, {}]}"#, "/waves/0/maxFailed"),
            (#"{"waves": [{"count": 5}, {"afterSeconds": -1}]}"#, "/waves/1/afterSeconds"),
            (#"{"waves": [{"count": 5}, {"size": 1}]}"#, "/waves/1/size"), (#"{"zone": "UTC"}"#, "/zone"),
        ]
    )
    func whatIsWrongIsNamed(_ body: String, _ place: String) async throws {
        let site = try await APISite.start()
        let id = try await edited(site)
        let key = try await site.key(.writeDeliveries)
        let refused = try await site.call("PUT", "/deliveries/\(id)/plan", key: key, body)
        #expect(refused.status == 400 && refused["errors.0.path"] == place, "\(refused.answer)")
        try await site.finish()
    }

    @Test func aDeliveryThatHasBegunKeepsItsPlan() async throws {
        let site = try await APISite.start()
        let id = try await edited(site)
        let key = try await site.key(.writeDeliveries)
        try await site.web.admin.startDelivery(id)
        let job = try #require(try await site.web.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.web.admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        #expect(try await site.call("PUT", "/deliveries/\(id)/plan", key: key, "{}").status == 409)
        let gone = try await site.call("PUT", "/deliveries/999999/plan", key: key, "{}")
        #expect(gone.status == 404)
        try await site.finish()
    }

    @Test func theHoursOfAServiceAreShownToWhoMaySeeItsApplications() async throws {
        let site = try await APISite.start()
        let service = try #require(
            try await site.web.value("SELECT service FROM pushmta_engine.api_applications() WHERE name = 'shop-ios'")
        )
        var hours = SendingHours()
        hours.hours = [SendingHours.Line(weekdays: [1, 2], opens: "09:00", closes: "18:30")]
        hours.daysOff = ["2036-12-25"]
        hours.timeZone = "Europe/Paris"
        try await site.web.admin.setSendingHours(ofService: service, hours)
        let key = try await site.key(.readApplications)
        let read = try await site.call("GET", "/services/\(service)/hours", key: key)
        #expect(
            read.status == 200 && read["timeZone"] == "Europe/Paris" && read["outside"] == "postpone",
            "\(read.answer)"
        )
        #expect(read["hours"] == #"[{"weekdays":[1,2],"opens":"09:00","closes":"18:30"}]"#)
        #expect(read["daysOff"] == #"["2036-12-25"]"#)
        #expect(try await site.call("GET", "/services/none/hours", key: key).status == 404)
        try await site.finish()
    }

    @Test func theFrequencyCapsOfAServiceAreShownToWhoMaySeeItsApplications() async throws {
        let site = try await APISite.start()
        let service = try #require(
            try await site.web.value("SELECT service FROM pushmta_engine.api_applications() WHERE name = 'shop-ios'")
        )
        let cap = FrequencyCapRow(
            service: service,
            name: "week",
            maxMessages: 3,
            unit: .days,
            length: 7,
            categories: ["news"]
        )
        try await site.web.admin.setFrequencyCap(cap)
        let key = try await site.key(.readApplications)
        let read = try await site.call("GET", "/services/\(service)/frequency-caps", key: key)
        #expect(
            read["frequencyCaps"]
                == #"[{"name":"week","maxMessages":3,"per":"days","length":7,"categories":["news"]}]"#,
            "\(read.answer)"
        )
        #expect(try await site.call("GET", "/services/none/frequency-caps", key: key).status == 404)
        try await site.finish()
    }

    @Test func frequencyCapsAreSetAndRemoved() async throws {
        let site = try await APISite.start()
        let service = try #require(
            try await site.web.value("SELECT service FROM pushmta_engine.api_applications() WHERE name = 'shop-ios'")
        )
        let key = try await site.key(.writeCaps, .readApplications, name: "caps")
        let path = "/services/\(service)/frequency-caps"
        let made = try await site.call(
            "PUT",
            "\(path)/per%20week",
            key: key,
            #"{"maxMessages": 3, "per": "days", "length": 7, "categories": ["news"]}"#
        )
        #expect(
            made.status == 200 && made["name"] == "per week" && made["categories"] == #"["news"]"#,
            "\(made.answer)"
        )
        let changed = try await site.call(
            "PUT",
            "\(path)/per%20week",
            key: key,
            #"{"maxMessages": 2, "per": "recipient_day", "categories": null}"#
        )
        #expect(changed["maxMessages"] == "2" && changed["length"] == "1" && changed["categories"] == "null")
        #expect(try await site.call("GET", path, key: key).count("frequencyCaps") == 1)
        for (body, status) in [
            (#"{"per": "days"}"#, 400), (#"{"maxMessages": 0, "per": "days"}"#, 400),
            (#"{"maxMessages": 1, "per": "weeks"}"#, 400), (#"{"maxMessages": 1, "per": "hours", "length": 73}"#, 400),
            (#"{"maxMessages": 1, "per": "days", "categories": []}"#, 400),
            (#"{"maxMessages": 1, "per": "days", "categories": ["none"]}"#, 400),
        ] {
            let refused = try await site.call("PUT", "\(path)/other", key: key, body)
            #expect(refused.status == status, "\(body): \(refused.answer)")
        }
        let body = #"{"maxMessages": 1, "per": "days"}"#
        #expect(try await site.call("PUT", "/services/none/frequency-caps/a", key: key, body).status == 404)
        let marketing = try await site.key(.writeDeliveries, .readApplications)
        #expect(try await site.call("PUT", "\(path)/other", key: marketing, body).status == 403)
        let limited = try await site.key([.writeCaps], applications: ["shop-ios"])
        #expect(try await site.call("PUT", "\(path)/other", key: limited, body).status == 403)
        #expect(try await site.call("DELETE", "\(path)/per%20week", key: key).status == 204)
        #expect(try await site.call("DELETE", "\(path)/per%20week", key: key).status == 404)
        let logged = try await site.web.value(
            "SELECT string_agg(action, ' ' ORDER BY id) FROM pushmta_engine.audit_log WHERE origin LIKE '%API key caps%'"
        )
        #expect(logged == "cap.set cap.set cap.drop")
        try await site.finish()
    }

    @Test func whetherAServiceKeepsWhatPeopleDidIsShown() async throws {
        let site = try await APISite.start()
        let service = try #require(
            try await site.web.value("SELECT service FROM pushmta_engine.api_applications() WHERE name = 'shop-ios'")
        )
        let path = "/services/\(service)/behaviour"
        let key = try await site.key(.readApplications)
        let before = try await site.call("GET", path, key: key)
        #expect(before["kept"] == "false" && before["since"] == "null", "\(before.answer)")
        try await site.web.admin.keepBehaviour(ofService: service)
        let read = try await site.call("GET", path, key: key)
        #expect(read["kept"] == "true" && read["since"] != "null" && read["deliveries"] == "0", "\(read.answer)")
        #expect(try await site.call("GET", "/services/none/behaviour", key: key).status == 404)
        try await site.finish()
    }
}
