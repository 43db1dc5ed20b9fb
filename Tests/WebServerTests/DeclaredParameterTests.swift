import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// Parameters that the application declares are stored in their columns.
@Suite struct DeclaredParameterTests {
    @Test func declaredParametersGoToTheirColumns() async throws {
        let site = try await WebSite.start()
        try await site.run(
            """
            UPDATE pushmta_engine.application SET subscription_parameters = '[{"name": "email", "column": "user_key"},
                {"name": "first", "column": "recipient.firstName"}, {"name": "zone", "column": "time_zone"},
                {"name": "points", "column": "parameters.score"}, {"name": "lang", "column": "locale"}]'
            WHERE platform = 'ios'
            """
        )
        let xml =
            #"<additionalParams><param name="email" value="a@b.c" /><param name="first" value="Ada" /><param name="zone" value="Europe/Paris" /><param name="points" value="7" /><param name="lang" value="fr" /><param name="other" value="1" /></additionalParams>"#
        let body =
            "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=u&osLanguage=en-US&additionalParams="
            + xml.utf8.map { byte in
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }.joined()
        // The declarations are read again within about a second.
        try await eventually("the declarations are known") {
            _ = try await site.registerIOS(body)
            return try await site.value("SELECT count(*) FROM pushmta.subscription WHERE user_key = 'a@b.c'") == "1"
        }
        #expect(
            try await site.value(
                "SELECT locale || ' ' || time_zone || ' ' || (recipient->>'firstName') || ' ' || parameters FROM pushmta.subscription WHERE user_key = 'a@b.c' AND enabled"
            ) == #"fr Europe/Paris Ada {"other": "1", "score": "7"}"#
        )
        // Fields of the recipient that come from elsewhere stay.
        try await site.run(
            "UPDATE pushmta_engine.subscription SET recipient = '{\"firstName\": \"A\", \"city\": \"Lyon\"}' WHERE enabled"
        )
        #expect(try await site.registerIOS(body).status == 200)
        #expect(
            try await site.value("SELECT recipient FROM pushmta.subscription WHERE enabled")
                == #"{"city": "Lyon", "firstName": "Ada"}"#
        )
        try await site.drain()
    }

    /// What an SDK sends as `timeZone`; an application may declare a parameter for it, which then counts.
    @Test func aTimeZoneIsKeptAndAnUnknownOneIsCounted() async throws {
        let site = try await WebSite.start()
        let body = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=u"
        func zone() async throws -> String? {
            try await site.value("SELECT time_zone FROM pushmta.subscription WHERE user_key = 'u' AND enabled")
        }
        #expect(try await site.registerIOS(body + "&timeZone=Europe%2FParis").status == 200)
        #expect(try await zone() == "Europe/Paris")
        #expect(try await site.registerIOS(body + "&timeZone=Europe%2FNowhere").status == 200)
        #expect(try await site.registerIOS(body).status == 200)
        #expect(try await zone() == "Europe/Paris", "who says nothing that is known changes nothing")
        let counted = "pushmta_registrations_total{result=\"unknown_zone\"} 1"
        #expect(site.server.metricsPage().contains(counted), "\(site.server.metricsPage())")
        #expect(try await site.registerIOS(body + "&timeZone=" + String(repeating: "x", count: 201)).status == 400)
        let kept = try await site.value("SELECT extra::text LIKE '%timeZone%' FROM pushmta_engine.subscription")
        #expect(kept != "true" && kept != "t", "it is no undeclared value")
        try await site.drain()
    }

    /// One application's declarations have a newer program's form: the others keep working, before and after a start.
    @Test func unreadableDeclarationsCostNobodyElse() async throws {
        let first = try await WebSite.start()
        try await first.run(
            "UPDATE pushmta_engine.application SET subscription_parameters = '[{\"name\": 1}]' WHERE platform = 'ios'"
        )
        let second = try await WebSite.start(database: first.database)
        let ios = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=u"
        let android = "registrationToken=testToken&mobileAppUuid=testIntegrationKey&userKey="
        for (number, site) in [first, second].enumerated() {
            try await eventually("the declarations were read") {
                try await site.get("/health/ready").body.contains("\"unreadableApplications\":1")
            }
            let refused = try await site.registerIOS(ios)
            #expect(refused.status == 503 && refused.body.contains("declarations"), "\(refused)")
            #expect(refused.headers["retry-after"] == "5")
            #expect(try await site.registerAndroid(android + "u\(number)").status == 200)
            #expect(try await site.get("/health/ready").status == 200)
        }
        try await first.run("UPDATE pushmta_engine.application SET subscription_parameters = '[]'")
        for site in [first, second] {
            try await eventually("it can register again") { try await site.registerIOS(ios).status == 200 }
            #expect(try await site.get("/health/ready").body.contains("\"unreadableApplications\":0"))
            try await site.drain()
        }
    }
}
