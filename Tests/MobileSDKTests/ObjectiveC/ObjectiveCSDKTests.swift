import Foundation
import Testing

@testable import MobileSDK

/// The library with the names of Adobe's Campaign SDK for iOS, compiled and run with GNUstep, and the samples of Adobe's pages.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ObjectiveCSDKTests {
    /// Names and values of a form.
    private static func fields(_ form: String) -> [[Substring]] {
        form.split(separator: "&").map { $0.split(separator: "=", omittingEmptySubsequences: false) }
    }

    /// Each status comes from what causes it.
    @Test(arguments: ObjectiveCBuild.Compiler.allCases)
    func eachStatusComesFromWhatCausesIt(_ compiler: ObjectiveCBuild.Compiler) async throws {
        let server = try await SmallServer.start { request in
            if request.body.contains("mobileAppUuid=other&") { return (404, [:], "Unknown integration key") }
            if request.body.contains("registrationToken=zz&") { return (422, [:], "no token\nof APNs") }
            if request.body.contains("registrationToken=0c&") { return (302, ["Location": "/elsewhere"], "") }
            if request.body.contains("registrationToken=0d&") { return (503, ["Retry-After": "60"], "<p>busy") }
            return (200, [:], "OK")
        }
        let build = try await ObjectiveCBuild(compiler)
        defer { build.remove() }
        try await build.make("Device")
        let run = try await build.run(
            "Device",
            home: "phone",
            [
                "register=0a,ann", "host=https://", "register=0a,ann", "host=\(server.base)", "register=0a,ann",
                "key=other", "register=0a,ann", "key=key", "register=zz,ann", "register=0c,ann", "register=0d,ann",
                "register=<0A 0b>,ann", "register=0a0b,ann",
            ]
        )
        #expect(
            run.told == [
                "status 1", "status 1", "status 2", "status 4", "status 5 no token", "status 5 HTTP status 302",
                "status 5 HTTP status 503", "status 0", "status 0",
            ],
            "\(run.output)"
        )
        #expect(run.status == 0)
        // A redirect is not followed, and what is registered is not sent again.
        #expect(server.requests.allSatisfy { $0.method == "POST" && $0.uri == RegistrationForm.path })
        let start = "registrationToken=0a0b&mobileAppUuid=key&userKey=ann&"
        #expect(server.requests.filter { $0.body.hasPrefix(start) }.count == 1)
        try await server.stop()
        let lost = try await build.run("Device", home: "other", ["host=http://127.0.0.1:1", "key=key", "register=0a"])
        #expect(lost.told.count == 1 && lost.told[0].hasPrefix("status 3 "), "\(lost.output)")
    }

    /// The bytes of both SDKs are the same, but for what describes the device.
    @Test func theFormIsThatOfTheSDKInSwift() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let build = try await ObjectiveCBuild(.gcc)
        defer { build.remove() }
        try await build.make("Device")
        let text = "'h>e&l\"l<o' ~é💡+"
        let run = try await build.run(
            "Device",
            home: "phone",
            [
                "host=\(server.base)", "key=a key", "param=greeting=\(text)", "param=points=3233", "param=vip=true",
                "register=0a0b,ann@example.com",
            ]
        )
        #expect(run.told == ["status 0"], "\(run.output)")
        let request = try #require(server.requests.first)
        let fields = Self.fields(request.body)
        let phone = DeviceDescription(name: "", model: "", systemName: "", systemVersion: "", language: "")
        let parameters: [String: ParameterValue] = ["greeting": .string(text), "points": 3233, "vip": true]
        let registration = Registration(
            token: "0a0b",
            userKey: "ann@example.com",
            parametersXML: ParametersXML.document(parameters),
            device: phone
        )
        let expected = Self.fields(RegistrationForm.body(registration, integrationKey: "a key"))
        #expect(fields.map(\.first) == expected.map(\.first))
        let ofTheDevice: Set<Substring> = ["deviceName", "deviceModel", "osName", "osVersion", "osLanguage"]
        for (field, other) in zip(fields, expected) where !ofTheDevice.contains(other[0]) {
            #expect(field == other)
        }
        #expect(request.headers.first { $0.key.lowercased() == "content-type" }?.value == RegistrationForm.contentType)
        try await server.stop()
    }

    /// What could not be sent goes out when the app is started again.
    @Test func whatCouldNotBeSentIsKept() async throws {
        let build = try await ObjectiveCBuild(.gcc)
        defer { build.remove() }
        try await build.make("Device")
        let nowhere = ["host=http://127.0.0.1:1", "tracking=http://127.0.0.1:1", "key=key"]
        let offline = try await build.run("Device", home: "phone", nowhere + ["register=0a,ann", "queue=12345,f0190"])
        #expect(offline.told.count == 1 && offline.told[0].hasPrefix("status 3 "), "\(offline.output)")
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let online = try await build.run(
            "Device",
            home: "phone",
            ["host=\(server.base)", "key=key", "await", "tracking=\(server.base)push", "receive=-673096100,d"]
        )
        #expect(online.told == ["status 0"] && online.status == 0, "\(online.output)")
        #expect(
            server.requests.map(\.uri) == [
                RegistrationForm.path, "/push/r/?id=h3039,f0190,2", "/push/r/?id=hd7e15e5c,d,1",
            ]
        )
        // Forgotten is sent again; a notification without ids is not tracked; the delegate need not have the method.
        let again = try await build.run(
            "Device",
            home: "phone",
            [
                "host=\(server.base)", "key=key", "register=0a,ann", "forget", "register=0a,ann",
                "tracking=\(server.base)", "queue=nonsense,d", "queue=7,a b", "click=4294967296,d", "silence",
            ]
        )
        #expect(again.told == ["status 0", "status 0"] && again.status == 0, "\(again.output)")
        #expect(server.requests.dropFirst(3).map(\.uri) == [RegistrationForm.path, "/r/?id=h100000000,d,2"])
        try await server.stop()
    }

    /// Out goes with every registration of that user, in again once; a token refresh with nil keeps the parameters.
    @Test func anOptOutAndWhatIsLeftOut() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let build = try await ObjectiveCBuild(.gcc)
        defer { build.remove() }
        try await build.make("Device")
        let settings = ["host=\(server.base)", "key=key"]
        let steps = [
            ["out", "param=a=1", "register=0a,ada", "register=0a,ada", "none", "register=0b,ada"],
            // The next start says no more, and so nothing is sent.
            ["none", "register=0b,ada"],
            ["none", "register=0b,ben", "register=0b,ada", "in", "await", "register=0b,ada"],
            ["out", "await", "register=0c,ada"],
        ]
        for step in steps {
            let run = try await build.run("Device", home: "phone", settings + step)
            #expect(run.status == 0 && Set(run.told) == ["status 0"], "\(run.output)")
        }
        let ends = server.requests.map { $0.body.components(separatedBy: "additionalParams%3E").last ?? "" }
        #expect(
            ends == [
                "&optOut=true", "&optOut=true", "", "&optOut=true", "&optOut=false", "&optOut=true", "&optOut=true",
            ]
        )
        let withParameters = server.requests.map { $0.body.contains("name%3D%22a%22") }
        #expect(withParameters == [true, true, false, false, false, false, false])
        try await server.stop()
    }

    /// The same by category: an opt-out goes with every registration of that user, an opt-in once.
    @Test func optOutsOfCategories() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let build = try await ObjectiveCBuild(.gcc)
        defer { build.remove() }
        try await build.make("Device")
        let settings = ["host=\(server.base)", "key=key"]
        let steps = [
            ["out=news", "register=0a,ada", "register=0a,ada"],
            ["out=marketing", "await", "register=0a,ada", "register=0a,ben", "register=0a,ada"],
            ["in=news", "await", "register=0b,ada", "out", "await", "in=marketing", "await", "register=0c,ada"],
        ]
        for step in steps {
            let run = try await build.run("Device", home: "phone", settings + step)
            #expect(run.status == 0 && Set(run.told) == ["status 0"], "\(run.output)")
        }
        let ends = server.requests.map { $0.body.components(separatedBy: "additionalParams%3E").last ?? "" }
        let both = "&categoriesOptOut=marketing%2Cnews"
        #expect(
            ends == [
                "&categoriesOptOut=news", both, "", both, "&categoriesOptOut=marketing&categoriesOptIn=news",
                "&categoriesOptOut=marketing", "&optOut=true&categoriesOptOut=marketing",
                "&optOut=true&categoriesOptIn=marketing", "&optOut=true",
            ]
        )
        try await server.stop()
    }

    /// A conversion is of the last opened notification, also in a later process.
    @Test func conversions() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let build = try await ObjectiveCBuild(.gcc)
        defer { build.remove() }
        try await build.make("Device")
        for steps in [
            ["click=12345,f0190", "receive=99,f0191", "convert=bought it & more,12.5"], ["convert=again"],
        ] {
            let run = try await build.run("Device", home: "phone", ["tracking=\(server.base)"] + steps)
            #expect(run.status == 0, "\(run.output)")
        }
        #expect(
            server.requests.map(\.uri) == [
                "/r/?id=h3039,f0190,2", "/r/?id=h63,f0191,1",
                "/r/?id=h3039,f0190,4&name=bought%20it%20%26%20more&value=12.5", "/r/?id=h3039,f0190,4&name=again",
            ]
        )
        try await server.stop()
    }

    /// Every Objective-C sample of the pages compiles as it stands, but for the corrections that are listed.
    @Test func theSamplesCompile() async throws {
        let build = try await ObjectiveCBuild(.clang)
        defer { build.remove() }
        try await build.wrapSamples()
        let files = try ObjectiveCBuild.samples()
        let names = files.map(\.lastPathComponent).filter { $0.hasSuffix(".m") }
        for name in names { try await build.compileSample(name) }
        // Each is what the list says: five pages of twelve samples.
        let list = try #require(files.first { $0.lastPathComponent == "pages.txt" })
        let rows = try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
        #expect(rows.count == 60 && Set(rows.map { $0[0] }) == ["de", "fr", "it", "ko", "nl"])
        #expect(Set(rows.map { String($0[2]) }) == Set(names))
        for row in rows {
            let file = try #require(files.first { $0.lastPathComponent == row[2] })
            #expect(SHA256Digest.hex(Array(try Data(contentsOf: file))) == row[3], "\(row[2])")
        }
        // The header says what theirs do.
        try await build.make("Headers", ["Programs/PageHeader1.m", "Programs/PageHeader2.m"])
        let headers = try await build.run("Headers", home: "headers", [])
        #expect(headers.status == 0 && headers.output == "equal\n", "\(headers.output)")
    }

    /// An app whose delegate is made of samples registers, and tracks in both of their ways.
    @Test func anAppOfSamplesRuns() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let build = try await ObjectiveCBuild(.clang)
        defer { build.remove() }
        try await build.wrapSamples()
        for (receiving, tag) in [("click", 2), ("silent", 1)] {
            try await build.make("SampleApp", ["Stubs/Stubs.m", "SampleDelegate-\(receiving).m"])
            let app = try await build.run(
                "SampleApp",
                home: receiving,
                [server.base, "key", "0a0b", "ann", "12345", "f0190"]
            )
            #expect(app.told == ["status 0", "completed 1", "tracked"] && app.status == 0, "\(app.output)")
            let requests = server.requests.suffix(2)
            #expect(requests.map(\.uri) == [RegistrationForm.path, "/r/?id=h3039,f0190,\(tag)"])
            let body = requests.first?.body ?? ""
            #expect(body.hasPrefix("registrationToken=0a0b&mobileAppUuid=key&userKey=ann&deviceName=Ada%27s%20Phone&"))
            #expect(body.contains("&deviceModel=iPhone&") && body.contains("&osVersion=iOS%2017.4&"))
            #expect(body.contains("name%3D%22points%22%20value%3D%223233%22"))
        }
        try await server.stop()
    }
}
