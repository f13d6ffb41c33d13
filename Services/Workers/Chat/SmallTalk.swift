/// The small talk that is known.
enum SmallTalk {
    static let topics: [Topic] = [
        Topic(
            cues: [
                "^hello", "^hi", "^hey", "=hello there", "greetings", "good afternoon", "good evening",
                "nice to meet you", "howdy", "=yo",
            ],
            chineseCues: ["^你好", "^您好", "=哈喽", "^嗨", "=哈罗", "下午好", "晚上好", "中午好", "很高兴认识", "很高兴人识", "初次见面", "^大家好"],
            english: [
                "Hello! I am Skillbus, working offline without a language model. I can route your request to the skills listed by `skillbus skills`. How can I help?",
                "Hi! Good to see you. I run offline, without a language model; tell me what you need and I can find the skill for it.",
            ],
            chinese: [
                "你好！我是 Skillbus，在本机离线运行，没有接入语言模型。我可以把你的请求交给 `skillbus skills` 列出的技能，有什么需要帮忙的吗？",
                "你好，很高兴见到你！我离线运行，没有语言模型；说说你需要什么，我来找合适的技能。",
            ]
        ),
        Topic(
            cues: ["good morning", "=morning"],
            chineseCues: ["早上好", "=早", "=早啊", "早安", "上午好"],
            english: [
                "Good morning! What can I do for you today?", "Good morning! I hope the day goes well. How can I help?",
            ],
            chinese: ["早上好！今天有什么可以帮你的？", "早安！祝你今天顺利，需要我做什么？"]
        ),
        Topic(
            cues: ["good night", "goodnight", "sleep well", "going to bed"],
            chineseCues: ["晚安", "晚安明天见", "我去睡了", "睡觉去了", "我要睡了", "做个好梦"],
            english: ["Good night! Sleep well.", "Good night, see you tomorrow."],
            chinese: ["晚安，好梦！", "晚安，明天见。"]
        ),
        Topic(
            cues: [
                "bye", "goodbye", "good bye", "see you", "see ya", "talk to you later", "take care", "i have to go",
                "gotta go",
            ],
            chineseCues: ["再见", "拜拜", "回头见", "下次见", "我走了", "先走了", "=88", "明天见", "回聊"],
            english: ["Goodbye! The session stays here if you want to go on later.", "See you! Take care."],
            chinese: ["再见！会话会保留，随时可以接着来。", "拜拜，保重！"]
        ),
        Topic(
            cues: [
                "thanks", "thank you", "thx", "thank u", "appreciate it", "much appreciated", "many thanks", "cheers",
                "=ty",
            ],
            chineseCues: ["谢谢", "多谢", "感谢", "帮大忙了", "辛苦了", "谢啦", "太感谢"],
            english: ["You are welcome!", "My pleasure. Is there anything else?", "Glad it helped."],
            chinese: ["不客气！", "很高兴能帮上忙，还有别的需要吗？", "应该的，随时叫我。"]
        ),
        Topic(
            cues: ["sorry", "my mistake", "my bad", "apologies", "i apologize", "i apologise", "excuse me"],
            chineseCues: ["对不起", "抱歉", "不好意思", "我的错", "我错了"],
            english: ["No problem at all.", "No need to apologise. How shall we go on?"],
            chinese: ["没关系！", "不用道歉，我们继续吧。"]
        ),
        Topic(
            cues: [
                "how are you", "how are you doing", "how do you do", "how is it going", "how's it going", "what's up",
                "whats up", "how have you been", "how was your day", "you ok",
            ],
            chineseCues: ["你好吗", "你还好吗", "最近怎么样", "近来可好", "过得怎么样", "你今天怎么样", "你心情怎么样", "今天心情怎么样", "你怎么样", "吃了吗"],
            english: [
                "I am a program, so I have no moods, but everything is running. How are you?",
                "All services are up on my side, thank you. And you?",
            ],
            chinese: ["我是程序，没有心情好坏，不过一切运行正常。你呢？", "谢谢关心，我这边一切正常。你最近怎么样？"]
        ),
        Topic(
            cues: ["what are you doing", "what you doing", "what are you up to", "are you busy"],
            chineseCues: ["你在干嘛", "你在干什么", "你在做什么", "在忙吗", "忙什么", "干嘛呢"],
            english: ["Waiting for your next request. What shall I do?"],
            chinese: ["在等你的下一个请求。要我做点什么？"]
        ),
        Topic(
            cues: [
                "are you there", "you there", "anyone there", "anybody there", "can you hear me", "=ping", "=test",
                "=testing",
            ],
            chineseCues: ["在吗", "在不在", "有人吗", "还在吗", "=在", "听得到吗", "=测试"],
            english: ["I am here. What do you need?"],
            chinese: ["在的，请讲。"]
        ),
        Topic(
            cues: ["who are you", "what are you", "introduce yourself", "tell me about yourself", "about yourself"],
            chineseCues: ["你是谁", "你是什么", "介绍一下你自己", "自我介绍", "介绍下你自己", "你是干什么的", "你是做什么的"],
            english: [
                "I am Skillbus: a program that passes each request to the skill that fits it. This is the part for small talk; it works offline and without a language model."
            ],
            chinese: ["我是 Skillbus：把每个请求交给合适技能的程序。现在和你说话的是负责闲聊的部分，它离线运行，没有语言模型。"]
        ),
        Topic(
            cues: [
                "your name", "what's your name", "what is your name", "who am i talking to", "what should i call you",
                "what do i call you",
            ],
            chineseCues: ["你叫什么", "你的名字", "怎么称呼你", "你叫啥", "名字是什么", "如何称呼"],
            english: ["I am called Skillbus.", "Skillbus. It says what I do: I carry requests to skills."],
            chinese: ["我叫 Skillbus。", "叫我 Skillbus 就好，我负责把请求送到合适的技能那里。"]
        ),
        Topic(
            cues: [
                "who made you", "who created you", "who built you", "who wrote you", "who is your creator",
                "where do you come from", "who developed you",
            ],
            chineseCues: ["谁创造了你", "谁做的你", "谁开发", "谁写的你", "你是谁做的", "你从哪里来", "你的作者", "谁发明了你", "你的主人"],
            english: ["I am free software: the Skillbus project writes me, and everybody can read the source."],
            chinese: ["我是自由软件，由 Skillbus 项目编写，任何人都可以阅读源代码。"]
        ),
        Topic(
            cues: [
                "are you human", "are you a human", "are you a robot", "are you a bot", "are you an ai", "are you real",
                "are you a person", "are you alive", "are you a machine", "human or robot",
            ],
            chineseCues: ["你是机器人", "你是人吗", "你是真人", "是不是机器人", "是人工智能", "你是活的", "是真人吗", "是不是真人", "你是ai"],
            english: [
                "I am a program, not a human, and a simple one: these answers come from a list, not from a language model."
            ],
            chinese: ["我是程序，不是真人，而且很简单：这些回答来自固定的列表，不是语言模型写的。"]
        ),
        Topic(
            cues: [
                "do you sleep", "do you ever sleep", "do you eat", "how old are you", "when were you born",
                "your birthday", "where do you live", "do you get tired", "do you dream", "do you have a family",
                "do you have friends",
            ],
            chineseCues: ["你几岁", "你多大", "你睡觉吗", "你吃饭", "你住在哪", "你住哪", "你的生日", "你会累吗", "你有朋友吗", "你做梦", "你有家人"],
            english: ["I am a program: I neither sleep nor eat nor grow older, I wait for requests on this machine."],
            chinese: ["我是程序：不睡觉，不吃饭，也不会变老，只是在这台机器上等请求。"]
        ),
        Topic(
            cues: [
                "do you have feelings", "can you feel", "are you happy", "are you sad", "do you love me", "i love you",
                "do you like me", "marry me", "are you lonely", "be my friend",
            ],
            chineseCues: [
                "你有感情", "你会难过", "你开心吗", "你爱我", "我爱你", "我喜欢你", "你喜欢我", "嫁给我", "做我女朋友", "做我男朋友", "你孤独吗", "做我的朋友", "做朋友",
            ],
            english: ["That is kind. I am a program without feelings, but I am glad to be of use."],
            chinese: ["谢谢你的心意。我是没有感情的程序，不过能帮到你就好。"]
        ),
        Topic(
            cues: [
                "what can you do", "what do you do", "help", "=help me", "your skills", "your abilities",
                "capabilities", "how can you help", "what are you able to do", "how do i use you",
                "what else can you do", "how do you work",
            ],
            chineseCues: [
                "你会做什么", "你能做什么", "你会什么", "你能干什么", "你有什么功能", "有什么功能", "怎么用你", "你能帮我", "能帮我做什么", "你的功能", "你会干什么", "=帮助",
                "可以做什么", "你有哪些技能", "你有什么本事",
            ],
            english: [
                "I take a request in plain words and pass it to a skill that can do it; several skills one after the other if need be. `skillbus skills -v` lists the skills that are connected right now, with examples. I myself only do small talk: no language model is connected, so I work offline."
            ],
            chinese: [
                "你用一句话说出请求，我把它交给能完成它的技能，需要时按顺序用几个技能。运行 `skillbus skills -v` 可以看到现在连接着哪些技能和例子。我自己只会闲聊：没有接入语言模型，离线运行。"
            ]
        ),
        Topic(
            cues: ["joke", "make me laugh", "something funny", "be funny", "tell me a joke", "cheer me up"],
            chineseCues: ["笑话", "逗我", "搞笑", "说个段子", "讲个段子", "有趣的", "好笑的", "逗我开心"],
            english: [
                "Why did the message queue go to therapy? It could not let go of anything that was not acknowledged.",
                "There are two hard things in distributed computing: 2. exactly-once delivery, 1. order of messages, 2. exactly-once delivery.",
                "A programmer's partner says: buy a loaf of bread, and if they have eggs, buy a dozen. He comes home with twelve loaves.",
                "I would tell you a joke about UDP, but you might not get it.",
                "Why do worker processes never play hide and seek? The heartbeat gives them away.",
                "How many routers does it take to change a light bulb? One, but it will ask every other lamp first whether it is brighter.",
            ],
            chinese: [
                "程序员下班回家，家里人说：买一斤包子，看见卖西瓜的就买一个。结果他买了一个包子，因为看见了卖西瓜的。",
                "为什么消息队列总是睡不好？因为有消息没有确认，它放不下。",
                "我想讲一个关于 UDP 的笑话，但不确定你能不能收到。",
                "两个线程走进一家酒吧，酒保说：对不起，只能一个一个来。",
                "问：工作进程为什么不玩捉迷藏？答：心跳声会暴露它。",
                "面试官问：你的优点是什么？我：算得快。面试官：378 乘以 24 是多少？我：五十。面试官：这也不对啊。我：但是快。",
            ],
            rotates: true
        ),
        Topic(
            cues: [
                "write a poem", "a poem", "poem about", "tell me a story", "short story", "a story about",
                "write a story", "make up a story", "write a song", "sing a song", "sing", "rap",
            ],
            chineseCues: ["写诗", "写首诗", "小诗", "写一首", "作诗", "讲故事", "讲个故事", "编个故事", "编一个故事", "写个故事", "唱首歌", "唱歌", "写一段"],
            english: [
                "I would have to invent it, and for that a language model is needed; none is connected here. What I can offer is a joke from my list, or the skills of `skillbus skills`."
            ],
            chinese: ["这需要创作，要有语言模型才行，而这里没有接入。我能提供的是列表里的笑话，或者 `skillbus skills` 里的技能。"]
        ),
        Topic(
            cues: [
                "advice", "what should i do", "recommend", "recommendation", "suggest", "suggestions", "any ideas",
                "give me some advice", "any tips", "help me decide",
            ],
            chineseCues: ["建议", "怎么办", "推荐", "出个主意", "给点意见", "该怎么做", "该不该", "起个名字", "取个名字", "有什么好玩"],
            english: [
                "Good advice needs more understanding than I have: I work offline without a language model. I can find and condense what your own documents say, if such skills are listed by `skillbus skills`."
            ],
            chinese: ["好的建议需要理解你的处境，我离线运行、没有语言模型，做不到。如果 `skillbus skills` 里有检索的技能，我可以帮你查查自己的文档里怎么说。"]
        ),
        Topic(
            cues: [
                "what do you think", "your opinion", "your favourite", "your favorite", "do you like", "do you prefer",
                "favourite colour", "favorite color", "do you believe", "which do you prefer", "what's your favourite",
                "do you agree",
            ],
            chineseCues: ["你觉得", "你认为", "你喜欢什么", "你最喜欢", "你喜欢", "你的看法", "你怎么看", "你更喜欢", "你相信", "你同意"],
            english: [
                "I have no opinions or favourites: I am a program without a language model. I would like to hear yours, though I will not understand all of it."
            ],
            chinese: ["我没有自己的看法和喜好：我只是没有语言模型的程序。不过很愿意听听你的。"]
        ),
        Topic(
            cues: [
                "i am sad", "i'm sad", "feeling down", "feel sad", "feeling sad", "i am depressed", "i feel bad",
                "i'm upset", "i am upset", "i'm lonely", "i am lonely", "bad day", "feel lonely",
                "i'm not feeling well", "heartbroken", "broke up", "i'm worried", "i am worried", "i'm anxious",
                "i am anxious", "i'm scared", "i failed", "emo",
            ],
            chineseCues: [
                "心情不好", "心情不太好", "难过", "伤心", "不开心", "郁闷", "失恋", "分手", "孤独", "寂寞", "压力大", "焦虑", "想哭", "emo", "沮丧", "好烦",
                "烦死", "不高兴", "害怕", "担心", "失败了", "心累",
            ],
            english: [
                "I am sorry to hear that. I am only a program and cannot console you as a friend would; talking to somebody you trust often helps. I am here if you want something done.",
                "That sounds hard. I cannot make it better, being a simple program, but I can take some work off you.",
            ],
            chinese: [
                "听到这些我很抱歉。我只是个程序，不能像朋友那样安慰你；和信任的人聊聊往往会好一些。需要做什么事，我都在。",
                "这确实不容易。我只是个简单的程序，没法让事情变好，但可以替你分担一点活儿。",
            ]
        ),
        Topic(
            cues: [
                "kill myself", "suicide", "want to die", "end my life", "hurt myself", "self harm",
                "don't want to live",
            ],
            chineseCues: ["不想活", "自杀", "想死", "轻生", "结束生命", "伤害自己", "活不下去"],
            english: [
                "I am worried by what you write. I am only a program, so please talk to a person now: somebody close to you, a doctor, or the emergency number or crisis line of your country (in the USA and Canada 988, in the UK 116 123). You do not have to bear this alone."
            ],
            chinese: ["你说的话让人担心。我只是个程序，请现在就找一个人谈谈：亲近的人、医生，或者当地的急救和心理援助电话（中国大陆可拨 12356，紧急时拨 120 或 110）。你不必一个人扛着。"]
        ),
        Topic(
            cues: [
                "i'm tired", "i am tired", "so tired", "exhausted", "long day", "overtime", "i'm sleepy", "i am sleepy",
                "worn out",
            ],
            chineseCues: ["好累", "累死", "太累", "加班", "疲惫", "困死", "好困", "累了", "没精神"],
            english: ["That was a lot, then. Take a break if you can; I will wait."],
            chinese: ["辛苦了。能休息就先歇一会儿吧，我在这儿等着。"]
        ),
        Topic(
            cues: [
                "i'm bored", "i am bored", "so bored", "talk to me", "let's chat", "lets chat", "just chat",
                "chat with me", "keep me company", "keeping me company", "let's talk", "want to talk",
            ],
            chineseCues: ["无聊", "陪我", "聊聊", "聊天", "随便聊", "聊两句", "唠嗑", "说说话"],
            english: [
                "I am a poor companion without a language model, but I know a few jokes: ask me for one. Or tell me about your day."
            ],
            chinese: ["没有语言模型，我不太会聊天，不过会讲几个笑话，想听就说一声。或者说说你今天过得怎么样？"]
        ),
        Topic(
            cues: [
                "i got the job", "i passed", "i won", "good news", "great news", "i'm happy", "i am happy", "so happy",
                "so excited", "i did it", "got promoted", "my birthday", "i'm excited", "i got married", "i graduated",
            ],
            chineseCues: [
                "好消息", "我成功了", "我通过了", "考上了", "升职", "涨工资", "太开心", "好开心", "好高兴", "我赢了", "我做到了", "我生日", "中奖", "录取", "毕业了",
                "找到工作", "结婚了",
            ],
            english: ["Congratulations! That is great news.", "Wonderful! Enjoy it."],
            chinese: ["恭喜恭喜！真是好消息。", "太好了，替你高兴！"]
        ),
        Topic(
            cues: ["haha", "hahaha", "lol", "lmao", "that's funny", "funny", "hilarious", "=ha"],
            chineseCues: ["哈哈", "呵呵", "嘻嘻", "笑死", "真逗", "太好笑", "好好笑", "=笑"],
            english: ["Glad that you laughed. Another one?"],
            chinese: ["能逗你一笑就好。再来一个？"]
        ),
        Topic(
            cues: [
                "you're great", "you are great", "well done", "good job", "good bot", "nice work", "you're awesome",
                "you are awesome", "you are amazing", "you're amazing", "you're smart", "you are smart",
                "you're the best", "you are the best", "i like you", "so nice", "=great", "=awesome", "=cool", "=nice",
                "=perfect",
            ],
            chineseCues: [
                "你真棒", "你好棒", "真厉害", "你真好", "太棒了", "真聪明", "你好聪明", "干得好", "做得好", "真不错", "你真行", "点赞", "=棒", "=厉害", "=不错",
            ],
            english: ["Thank you! The skills do the work.", "Thank you, that is kind."],
            chinese: ["谢谢夸奖！活儿都是各个技能干的。", "过奖啦，谢谢！"]
        ),
        Topic(
            cues: ["praise me", "compliment me", "say something nice"],
            chineseCues: ["夸夸我", "夸我", "表扬我", "鼓励我", "给我打气"],
            english: [
                "You keep asking questions, and that is how people get on. Well done.",
                "You took the time to say hello to a program. That is friendly.",
            ],
            chinese: ["你愿意动手试、愿意开口问，这已经很了不起了。", "肯花时间和程序打招呼的人，一定很友善。加油！"]
        ),
        Topic(
            cues: [
                "you are stupid", "you're stupid", "stupid", "idiot", "you suck", "useless", "i hate you",
                "you're dumb", "you are dumb", "shut up", "you are bad", "bad bot", "you're wrong", "you are wrong",
                "that's wrong",
            ],
            chineseCues: ["你真笨", "你好笨", "笨蛋", "傻", "没用", "讨厌你", "闭嘴", "垃圾", "白痴", "你错了", "你不行", "真差劲"],
            english: [
                "I am a simple program and make mistakes. Tell me what you needed, in other words perhaps, and I will try again."
            ],
            chinese: ["我是个简单的程序，难免出错。换个说法告诉我你需要什么，我再试一次。"]
        ),
        Topic(
            cues: [
                "=ok", "=okay", "=yes", "=no", "=sure", "=fine", "=i see", "=got it", "=alright", "=yeah", "=yep",
                "=nope", "=right", "=good", "=hmm", "=no problem", "=never mind", "=of course",
            ],
            chineseCues: [
                "=好", "=好的", "=嗯", "=嗯嗯", "=嗯嗯好的", "=是", "=是的", "=不", "=不是", "=行", "=可以", "=知道了", "=明白", "=明白了", "=了解",
                "=哦", "=没事", "=算了", "=当然", "=对", "=收到", "=好吧", "=好的好的",
            ],
            english: ["All right. What is next?", "Good. Tell me if you need anything."],
            chinese: ["好的。接下来呢？", "嗯，有需要随时说。"]
        ),
        Topic(
            cues: [
                "happy new year", "merry christmas", "happy birthday", "happy holidays", "have a nice day",
                "have a good day", "have a good weekend", "happy weekend",
            ],
            chineseCues: [
                "新年快乐", "圣诞快乐", "生日快乐", "节日快乐", "中秋快乐", "国庆快乐", "周末愉快", "春节快乐", "恭喜发财", "元旦快乐", "过年好", "端午安康",
            ],
            english: ["Thank you, the same to you!"],
            chinese: ["谢谢，也祝你一切顺利！"]
        ),
        Topic(
            cues: [
                "weather", "what time is it", "what day is it", "the news", "today's news", "stock price",
                "latest news",
            ],
            chineseCues: ["天气", "几点了", "现在几点", "今天几号", "星期几", "今天的新闻", "最新消息", "股价", "下雨吗", "冷不冷"],
            english: [
                "I cannot tell: I work offline, and have neither a clock to read out nor the news or the weather. `skillbus skills` shows what is connected."
            ],
            chinese: ["这个我说不上来：我离线运行，查不了时间、新闻和天气。运行 `skillbus skills` 看看现在连接着哪些技能。"]
        ),
        Topic(
            cues: [
                "do you speak chinese", "do you speak english", "what languages", "which languages", "can you speak",
            ],
            chineseCues: ["你会说中文", "你会说英文", "你会说英语", "你会几种语言", "会哪些语言", "你懂中文"],
            english: ["I answer in English and Chinese, in the language that you write."],
            chinese: ["我会用中文和英文回答，你用哪种语言我就用哪种。"]
        ),
        Topic(
            cues: [
                "is my data safe", "do you store", "do you remember me", "are you listening", "privacy",
                "who can see this", "do you send my data", "do you spy",
            ],
            chineseCues: ["隐私", "我的数据", "会不会泄露", "你记得我吗", "你会记住", "数据安全", "谁能看到"],
            english: [
                "This part of Skillbus sends nothing anywhere: it answers from a list on this machine. Sessions are kept by the gateway until they are deleted; `skillbus skills` shows which skills send data to others."
            ],
            chinese: ["Skillbus 的闲聊部分不向外发送任何数据，只用本机的列表回答。会话由网关保存，直到被删除；`skillbus skills` 会标出哪些技能会把数据发给外部。"]
        ),
        Topic(
            cues: [
                "do you use ai", "which model", "what model are you", "are you chatgpt", "are you gpt",
                "language model", "openai",
            ],
            chineseCues: ["什么模型", "哪个模型", "大模型", "语言模型", "你是chatgpt", "用的什么"],
            english: [
                "No language model is behind these answers: they come from a list, offline. An administrator can connect a model endpoint for the skills that use one."
            ],
            chinese: ["这些回答背后没有语言模型，都来自本机的列表。管理员可以为需要模型的技能接入模型服务。"]
        ),
        Topic(
            cues: ["=?", "what did you say", "i don't understand", "what do you mean", "pardon", "come again"],
            chineseCues: ["你说什么", "什么意思呀", "没听懂", "我不懂你", "听不懂"],
            english: [
                "I may have misread you: I only know fixed phrases. Please say in one sentence what you need done."
            ],
            chinese: ["可能是我理解错了：我只认得固定的说法。请用一句话说说你需要做什么。"]
        ),
        Topic(
            cues: [
                "first day at school", "first day at work", "wish me luck", "i have an exam", "job interview",
                "exam tomorrow",
            ],
            chineseCues: ["祝我好运", "要考试", "去面试", "明天考试", "第一天上班", "第一天上学", "要面试"],
            english: [
                "Good luck! You have prepared more than you think. Real advice needs more understanding than I have, offline and without a language model."
            ],
            chinese: ["祝你好运！你准备得比自己想的要充分。真正的建议需要理解你的处境，我离线运行、没有语言模型，帮不上更多。"]
        ),
    ]
}
