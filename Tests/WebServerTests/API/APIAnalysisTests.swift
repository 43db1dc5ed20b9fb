import PushCore
import Store
import Testing

@testable import WebServer

/// The analysis of a delivery through the API.
@Suite struct APIAnalysisTests {
    /// A site with a delivery to two of three subscribers, the third of whom has opted out.
    private func ready() async throws -> (site: APISite, delivery: Int64) {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.seedSubscriptions(application: "shop-ios", count: 3)
        try await site.web.run(
            "UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = (SELECT max(id) FROM pushmta_engine.subscription)"
        )
        var new = NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        new.messagesPerSecond = 100
        return (site, try await admin.createDelivery(new))
    }

    /// Prepares the delivery that is to be prepared, as a supervisor does.
    private func prepare(_ site: APISite, _ findings: AnalysisFindings) async throws {
        let admin = site.web.admin
        let job = try #require(try await admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        _ = try await admin.endAnalysis(of: job, findings)
    }

    /// What rendering one message showed.
    private var findings: AnalysisFindings {
        var found = AnalysisFindings()
        found.add(bytes: 60)
        found.samples = [
            AnalysisFindings.Sample(
                application: "shop-ios",
                subscriptionID: 7,
                locale: "",
                bytes: 60,
                limit: 4_096,
                payload: #"{"aps":{"alert":{"title":"Ada"}}}"#
            )
        ]
        return found
    }

    @Test func aDeliveryIsAnalysedThenStarted() async throws {
        let (site, id) = try await ready()
        let key = try await site.key(.writeDeliveries, .readDeliveries, .readDevices)
        let path = "/deliveries/\(id)/analysis"
        let never = try await site.call("GET", path, key: key)
        #expect(never.status == 404 && never["detail"]?.contains("never analysed") == true, "\(never.answer)")
        let begun = try await site.call("POST", path, key: key)
        #expect(begun.status == 202 && begun["state"] == "analysing" && begun["id"] == "\(id)", "\(begun.answer)")
        // Another request while it is under way changes nothing.
        #expect(try await site.call("POST", path, key: key).status == 202)
        let early = try await site.call("GET", path, key: key)
        #expect(early["state"] == "analysing" && early["finishedAt"] == "null" && early.count("samples") == 0)
        #expect(early["validUntil"] == "null")
        try await prepare(site, findings)
        let read = try await site.call("GET", path, key: key)
        #expect(read.status == 200 && read["state"] == "ready" && read["finishedAt"] != "null", "\(read.answer)")
        #expect(read["validUntil"] != "null")
        #expect(read["messages"] == "2" && read["excluded"] == "1")
        #expect(read["counts.0.application"] == "shop-ios")
        let counted = (0..<(read.count("counts") ?? 0)).compactMap { Int(read["counts.\($0).messages"] ?? "") }
        #expect(counted.reduce(0, +) == 2)
        #expect(read["exclusions"] == #"[{"reason":"opted_out","messages":1}]"#)
        #expect(read["rendered"] == "1" && read["smallest"] == "60" && read["largest"] == "60")
        #expect(read["refused"] == "0" && read.count("problems") == 0 && read["remadeBecause"] == "null")
        #expect(read["seconds"] == "0.02" && read["limitedBy"] == "delivery: 100 messages a second")
        #expect(read["endsAt"] != "null" && read["bound"] == #"{"kind":"rate","name":"delivery","beginsAt":null}"#)
        #expect(read["samples.0.payload.aps.alert.title"] == "Ada" && read["samples.0.deviceId"] == "7")
        #expect(read["samples.0.locale"] == "null" && read["samples.0.bytes"] == "60")
        let started = try await site.call("POST", "/deliveries/\(id)/start", key: key)
        #expect(started.status == 200 && started["counts.pending"] == "2", "\(started.answer)")
        #expect(try await site.call("POST", path, key: key).status == 409)
        let left = try await site.call("GET", path, key: key)
        #expect(left["messages"] == "2" && left["validUntil"] == "null" && left["finishedAt"] == read["finishedAt"])
        try await site.finish()
    }

    @Test func anEstimateSaysItsError() async throws {
        let (site, id) = try await ready()
        let key = try await site.key(.readDeliveries)
        let path = "/deliveries/\(id)/count"
        #expect(try await site.call("GET", path, key: key)["answeredAt"] == "null")
        let look = try #require(try await site.web.admin.takeLook())
        let counts = [
            TargetCount(application: "shop-android", messages: 7, excluded: 1),
            TargetCount(application: "shop-ios", messages: 1_202_230, excluded: 204_750, error: 21_370),
        ]
        try await site.web.admin.answer(look, .counts(counts))
        let read = try await site.call("GET", path, key: key)
        #expect(
            read["counts"]
                == #"[{"application":"shop-android","messages":7,"excluded":1,"estimate":false,"error":null},{"application":"shop-ios","messages":1202230,"excluded":204750,"estimate":true,"error":21370}]"#,
            "\(read.answer)"
        )
        try await site.finish()
    }

    @Test func whatWasDroppedKeepsItsNumbers() async throws {
        let (site, id) = try await ready()
        let key = try await site.key()
        try await site.web.admin.analyzeDelivery(id)
        try await prepare(site, findings)
        try await site.web.run(
            "DO $$ BEGIN PERFORM pushmta.start_delivery(\(id), now() + interval '2 days'); END $$"
        )
        let read = try await site.call("GET", "/deliveries/\(id)/analysis", key: key)
        #expect(read["state"] == "pending" && read["validUntil"] == "null", "\(read.answer)")
        #expect(read["messages"] == "2" && read["finishedAt"] != "null" && read["remadeBecause"] != "null")
        try await site.finish()
    }

    /// Samples show people's values.
    @Test func onlyWhoMaySeeThemReadsSamples() async throws {
        let (site, id) = try await ready()
        try await site.web.admin.analyzeDelivery(id)
        try await prepare(site, findings)
        let blind: [[APIScope]] = [
            [.readDeliveries], [.readDeliveries, .writeDeliveries], [.readDeliveries, .readDevices],
        ]
        for scopes in blind {
            let key = try await site.key(scopes)
            let read = try await site.call("GET", "/deliveries/\(id)/analysis", key: key)
            #expect(read.status == 200 && read["samples"] == "null" && read["messages"] == "2", "\(scopes)")
            #expect(!read.answer.body.contains("Ada"))
        }
        let all = try await site.key([.readDeliveries, .writeDeliveries, .readDevices])
        #expect(try await site.call("GET", "/deliveries/\(id)/analysis", key: all).count("samples") == 1)
        try await site.finish()
    }

    @Test func problemsAreListed() async throws {
        let (site, id) = try await ready()
        let key = try await site.key()
        _ = try await site.call("POST", "/deliveries/\(id)/analysis", key: key)
        var faulty = findings
        faulty.problems = [
            DeliveryProblem(subject: "content", pointer: "/ios/title", problem: "it is too long", remedy: "shorten it")
        ]
        try await prepare(site, faulty)
        let read = try await site.call("GET", "/deliveries/\(id)/analysis", key: key)
        #expect(read["state"] == "editing" && read["finishedAt"] == "null", "\(read.answer)")
        #expect(read["problems.0.path"] == "/ios/title" && read["problems.0.remedy"] == "shorten it")
        try await site.finish()
    }

    @Test func whatCannotBeAnalysedIsRefused() async throws {
        let (site, id) = try await ready()
        let key = try await site.key()
        let reader = try await site.key(.readDeliveries)
        let writer = try await site.key(.writeDeliveries)
        let other = try await site.key(applications: ["shop-android"])
        let path = "/deliveries/\(id)/analysis"
        #expect(try await site.call("POST", path, key: reader).status == 403)
        #expect(try await site.call("GET", path, key: writer).status == 403)
        for method in ["POST", "GET"] {
            #expect(try await site.call(method, path, key: other).status == 404)
            #expect(try await site.call(method, "/deliveries/\(id + 1)/analysis", key: key).status == 404)
            #expect(try await site.call(method, "/deliveries/x/analysis", key: key).status == 400)
        }
        #expect(try await site.call("POST", path, key: key, #"{"more": 1}"#).status == 400)
        let continuous = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "x", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}, "kind": "continuous"}"#
        )
        let refused = try await site.call("POST", "/deliveries/\(continuous["id"] ?? "")/analysis", key: key)
        #expect(refused.status == 400 && refused["detail"]?.contains("continuous") == true, "\(refused.answer)")
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery_analysis") == "0")
        try await site.finish()
    }
}
