import HTTPTypes
import Logging
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The table of routes: the required roles, the forms, and the headers of every answer.
@Suite struct RouteTests {
    private func path(_ route: ConsoleRoute, _ delivery: Int64) -> String {
        route.path.replacing("{version}", with: "1").replacing(
            "{id}",
            with: route.path.hasPrefix("/hosts") ? "6f9619ff-8b86-4011-b42d-00cf4fc964ff" : "\(delivery)"
        )
    }

    @Test func eachRouteRefusesWhoMayNot() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        var browsers: [ConsoleRole: ConsoleBrowser] = [:]
        for role in ConsoleRole.allCases { browsers[role] = try await site.session(role) }
        let routes = ConsoleRoutes(site.responder).all
        #expect(routes.count > 15)
        for route in routes {
            let path = path(route, delivery)
            guard case .role(let needed) = route.access else { continue }
            let stranger = try await site.ask(route.method, path, form: [:])
            #expect([.seeOther, .unauthorized].contains(stranger.status), "\(route.method) \(path)")
            for (role, browser) in browsers where role < needed {
                let answer =
                    route.method == .post ? try await browser.post(path) : try await browser.get(path)
                #expect(answer.status == .forbidden, "\(role) \(route.method) \(path)")
                #expect(answer.text.contains("Your role does not allow this"))
            }
        }
        // None of these requests changed anything.
        #expect(try await site.admin.deliveryProgress(delivery).state == .pending)
        await site.close()
    }

    @Test func eachFormNeedsItsToken() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let admin = try await site.session(.admin)
        let other = try await site.session(.operate)
        for route in ConsoleRoutes(site.responder).all where route.method == .post && route.access != .everybody {
            let path = path(route, delivery)
            for token in ["", "0", other.token, String(repeating: "0", count: 64)] {
                #expect(try await admin.post(path, token: token).status == .forbidden, "\(path)")
            }
            let cross = try await admin.post(path, headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(cross.status == .forbidden, "\(path)")
        }
        // Without a session, a form is bound to its browser.
        let page = try await site.ask(.get, "/sign-in")
        let form = ["token": page.formToken, "user": "admin", "password": ConsoleSite.password]
        #expect(try await site.ask(.post, "/sign-in", form: form).status == .forbidden)
        #expect(try await site.admin.deliveryProgress(delivery).state == .pending)
        #expect(try await admin.get("/alarms").status == .ok)
        await site.close()
    }

    /// A refused form leaves its address in the browser.
    @Test func theAddressOfEachFormLeadsToItsPage() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let routes = ConsoleRoutes(site.responder).all
        let pages = Set(routes.filter { $0.method == .get }.map { path($0, delivery) })
        for route in routes where route.method == .post {
            #expect(pages.contains(path(route, delivery)), "\(route.path)")
        }
        let admin = try await site.session(.admin)
        for (address, page) in [
            ("/deliveries/\(delivery)/reject", "/deliveries/\(delivery)"),
            ("/deliveries/\(delivery)/pause?below=3", "/deliveries/\(delivery)?below=3"),
            ("/deliveries/several", "/deliveries"),
            ("/alarms/7/acknowledge", "/alarms"),
        ] {
            let stranger = try await site.ask(.post, address)
            #expect(stranger.headers[.location] == "/sign-in?next=\(SignIn.encoded(address))", "\(address)")
            let answer = try await admin.get(address)
            #expect(answer.status == .seeOther && answer.headers[.location] == page, "\(address)")
        }
        await site.close()
    }

    @Test func eachAnswerHasItsHeaders() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let admin = try await site.session(.admin)
        let names = ["Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options"]
        let paths = ConsoleRoutes(site.responder).all.filter { $0.method == .get }.map { path($0, delivery) }
        for path in paths + ["/nothing", "/deliveries/x", "/hosts/x/drain"] {
            let answer = try await admin.get(path)
            for name in names {
                #expect(HTTPField.Name(name).flatMap { answer.headers[$0] } != nil, "\(path): \(name)")
            }
            let policy = HTTPField.Name("Content-Security-Policy").flatMap { answer.headers[$0] } ?? ""
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            #expect(policy.contains("frame-ancestors 'none'"))
        }
        #expect(try await admin.get("/nothing").status == .notFound)
        #expect(try await admin.get("/deliveries/999").status == .notFound)
        #expect(try await admin.get("/deliveries/x").status == .notFound)
        await site.close()
    }

    @Test func anAddressThatOthersReachNeedsACertificate() throws {
        let error = #expect(throws: ConsoleError.self) {
            var settings = Settings()
            settings.console.address = "0.0.0.0"
            _ = try ConsoleServer(
                ConsoleSetup(
                    settings: settings,
                    database: PostgresConfiguration(
                        "",
                        applicationName: PostgresApplicationName(role: "t", host: "h", pid: 0)
                    ),
                    version: "1",
                    meanings: { _ in nil },
                    credentials: CredentialSealing(
                        problem: { nil },
                        save: { _, _, _ in },
                        seal: { SealedWebhookSecret(id: $1, sealKeyID: "key", sealed: $0) }
                    ),
                    logger: Logger(label: "t")
                )
            )
        }
        #expect(error?.code == .setting && error?.description.contains("console.certificateFile") == true)
        for address in ["127.0.0.1", "127.8.8.8", "::1", "localhost"] {
            var console = ConsoleSettings()
            console.address = address
            #expect(console.problems.isEmpty, "\(address)")
        }
    }
}
